import { api } from '../platform/api.ts';
import { manifestsEndpoints } from './endpoints.ts';

export const handler = api('manifests', manifestsEndpoints);
