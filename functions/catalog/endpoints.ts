import { getApp } from './get-app.ts';

/** Every handler of the domain, by the name functions/routes.ts calls it. */
export const catalogEndpoints = {
  getApp,
};
