import { routes, type RouteKey } from '../functions/routes.ts';

/** Where a run says which domains' routes its tests walk; all of them, when it says nothing. */
export const DOMAINS = 'TEST_DOMAINS';

const wanted = process.env[DOMAINS]?.split(',');

/** Whether this run is about the route. */
export const isAsked = (route: RouteKey): boolean => wanted?.includes(routes[route].domain) ?? true;

/** The routes this run is about. */
export const routesAsked = (Object.keys(routes) as RouteKey[]).filter(isAsked);
