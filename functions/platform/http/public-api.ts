import type { HandlerName, Table } from '../route.ts';
import type { Endpoint } from './endpoint.ts';
import { refuse } from '../errors.ts';
import { limitSource } from '../rates/rates.ts';
import { type Admit, serve } from './serve.ts';

/**
 * The function of a domain whose every route is public. It knows nothing of callers, so its bundle holds nothing to
 * find out who they are: that is most of what any other function weighs.
 */
export function publicApi<T extends Table>(table: T, endpoints: Record<HandlerName<T>, Endpoint>) {
  return serve(table, endpoints, admitAnyone);
}

export const admitAnyone: Admit = (ctx, event, requirement, headers) => {
  // A route that was closed by mistake after its function was opened stays closed.
  if (requirement !== 'public') throw refuse('auth.missing');
  const sourceIp = event.requestContext?.http?.sourceIp ?? '';
  Object.assign(headers, limitSource(event.routeKey, sourceIp, ctx.now()));
  return { ...ctx, sourceIp };
};
