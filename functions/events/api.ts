import { api } from '../platform/http/api.ts';
import { eventsEndpoints } from './endpoints.ts';
import { eventsRoutes } from './routes.ts';

export const handler = api('events', eventsRoutes, eventsEndpoints);
