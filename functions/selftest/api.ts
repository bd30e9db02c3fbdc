import { api } from '../platform/http/api.ts';
import { selftestRoutes } from './routes.ts';
import { selftestEndpoints } from './endpoints.ts';

export const handler = api('selftest', selftestRoutes, selftestEndpoints);
