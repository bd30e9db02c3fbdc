import { publicApi } from '../platform/http/public-api.ts';
import { docsRoutes } from './routes.ts';
import { docsEndpoints } from './endpoints.ts';

export const handler = publicApi('docs', docsRoutes, docsEndpoints);
