import { api } from '../platform/api.ts';
import { identityEndpoints } from './endpoints.ts';

export const handler = api('identity', identityEndpoints);
