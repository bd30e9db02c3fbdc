import { api } from '../platform/api.ts';
import { artifactsRoutes } from '../routes.ts';
import { artifactsEndpoints } from './endpoints.ts';

export const handler = api(artifactsRoutes, artifactsEndpoints);
