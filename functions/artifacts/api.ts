import { api } from '../platform/http/api.ts';
import { artifactsRoutes } from './routes.ts';
import { artifactsEndpoints } from './endpoints.ts';

export const handler = api('artifacts', artifactsRoutes, artifactsEndpoints);
