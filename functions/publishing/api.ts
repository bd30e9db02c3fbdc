import { api } from '../platform/http/api.ts';
import { publishingRoutes } from './routes.ts';
import { publishingEndpoints } from './endpoints.ts';

export const handler = api('publishing', publishingRoutes, publishingEndpoints);
