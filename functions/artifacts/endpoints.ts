import { getRegistry } from './get-registry.ts';

/** Every handler of the domain, by the name functions/routes.ts calls it. */
export const artifactsEndpoints = { getRegistry };
