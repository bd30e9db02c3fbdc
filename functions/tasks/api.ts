import { api } from '../platform/http/api.ts';
import { tasksEndpoints } from './endpoints.ts';
import { tasksRoutes } from './routes.ts';

export const handler = api('tasks', tasksRoutes, tasksEndpoints);
