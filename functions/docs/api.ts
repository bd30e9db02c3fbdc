import { api } from '../platform/api.ts';
import { docsEndpoints } from './endpoints.ts';

export const handler = api('docs', docsEndpoints);
