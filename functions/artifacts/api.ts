import { api } from '../platform/api.ts';
import { artifactsEndpoints } from './endpoints.ts';

export const handler = api('artifacts', artifactsEndpoints);
