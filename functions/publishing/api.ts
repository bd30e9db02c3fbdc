import { api } from '../platform/api.ts';
import { publishingEndpoints } from './endpoints.ts';

export const handler = api('publishing', publishingEndpoints);
