import { api } from '../platform/http/api.ts';
import { nodesEndpoints } from './endpoints.ts';
import { nodesRoutes } from './routes.ts';

export const handler = api('nodes', nodesRoutes, nodesEndpoints);
