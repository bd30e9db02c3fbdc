import { api } from '../platform/http/api.ts';
import { catalogRoutes } from './routes.ts';
import { catalogEndpoints } from './endpoints.ts';

export const handler = api('catalog', catalogRoutes, catalogEndpoints);
