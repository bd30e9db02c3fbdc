import type { HandlerName, Table } from '../route.ts';
import type { Endpoint } from './endpoint.ts';
import { refuse } from '../errors.ts';
import { limitSource } from '../rates/rates.ts';
import { type Admit, serve } from './serve.ts';
import { sourceIpOf } from './source-ip.ts';

/**
 * The function of a domain with only public routes. It contains no authentication code, which is most of the bundle of
 * any other function.
 */
export function publicApi<T extends Table>(
  domain: string,
  table: T,
  endpoints: Record<HandlerName<T>, Endpoint>,
) {
  return serve(domain, table, endpoints, admitAnyone);
}

export const admitAnyone: Admit = (ctx, event, requirement, headers) => {
  // A route that is not public is refused here, even if it was added by mistake.
  if (requirement !== 'public') throw refuse('auth.missing');
  const sourceIp = sourceIpOf(event);
  Object.assign(headers, limitSource(event.routeKey, sourceIp, ctx.now()));
  return { ...ctx, sourceIp };
};
