import { publicApi } from '../platform/http/public-api.ts';
import { agentEndpoints } from './endpoints.ts';
import { agentRoutes } from './routes.ts';

export const handler = publicApi('agent', agentRoutes, agentEndpoints);
