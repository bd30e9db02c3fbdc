import { api } from '../platform/http/api.ts';
import { retentionEndpoints } from './endpoints.ts';
import { retentionRoutes } from './routes.ts';

export const handler = api('retention', retentionRoutes, retentionEndpoints);
