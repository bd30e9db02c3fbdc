import { api } from '../platform/http/api.ts';
import { manifestsRoutes } from './routes.ts';
import { manifestsEndpoints } from './endpoints.ts';

export const handler = api('manifests', manifestsRoutes, manifestsEndpoints);
