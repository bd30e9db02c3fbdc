import { api } from '../platform/http/api.ts';
import { allocationsEndpoints } from './endpoints.ts';
import { allocationsRoutes } from './routes.ts';

export const handler = api('allocations', allocationsRoutes, allocationsEndpoints);
