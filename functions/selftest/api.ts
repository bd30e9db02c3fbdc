import { api } from '../platform/api.ts';
import { selftestRoutes } from '../routes.ts';
import { selftestEndpoints } from './endpoints.ts';

export const handler = api(selftestRoutes, selftestEndpoints);
