import { api } from '../platform/api.ts';
import { catalogEndpoints } from './endpoints.ts';

export const handler = api('catalog', catalogEndpoints);
