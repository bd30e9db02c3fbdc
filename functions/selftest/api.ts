import { api } from '../platform/api.ts';
import { selftestEndpoints } from './endpoints.ts';

export const handler = api('selftest', selftestEndpoints);
