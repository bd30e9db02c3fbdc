import { getHealth } from './get-health.ts';
import { getSelftest } from './get-selftest.ts';
import { requestSelftest } from './request-selftest.ts';

/** Every handler of the domain, by the name functions/routes.ts calls it. */
export const selftestEndpoints = { getHealth, requestSelftest, getSelftest };
