import { publicApi } from '../platform/public-api.ts';
import { docsRoutes } from '../routes.ts';
import { docsEndpoints } from './endpoints.ts';

export const handler = publicApi(docsRoutes, docsEndpoints);
