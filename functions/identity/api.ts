import { api } from '../platform/http/api.ts';
import { identityRoutes } from './routes.ts';
import { identityEndpoints } from './endpoints.ts';

export const handler = api('identity', identityRoutes, identityEndpoints);
