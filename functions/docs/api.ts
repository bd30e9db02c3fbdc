import { publicApi } from '../platform/public-api.ts';
import { docsEndpoints } from './endpoints.ts';

export const handler = publicApi('docs', docsEndpoints);
