import { getHealth } from './get-health.ts';
import { getSelftest } from './get-selftest.ts';
import { requestSelftest } from './request-selftest.ts';

/** Every handler of the domain, by the name its routes call it. */
export const selftestEndpoints = { getHealth, requestSelftest, getSelftest };
