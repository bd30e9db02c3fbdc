import type { HandlerName, Table } from '../route.ts';
import { authorize } from '../auth/authorize.ts';
import { ForeignRequest, recordForeignRequest } from '../auth/foreign-request.ts';
import { withPrincipal } from '../context.ts';
import type { Endpoint } from './endpoint.ts';
import { refuse } from '../errors.ts';
import { admitAnyone } from './public-api.ts';
import { limitCaller } from '../rates/rates.ts';
import { type Admit, serve } from './serve.ts';
import { sourceIpOf } from './source-ip.ts';

/** The function of one domain: it names a handler for each of the domain's routes, and no other. */
export function api<T extends Table>(domain: string, table: T, endpoints: Record<HandlerName<T>, Endpoint>) {
  return serve(domain, table, endpoints, admit);
}

const admit: Admit = async (ctx, event, requirement, headers) => {
  if (requirement === 'public') return admitAnyone(ctx, event, requirement, headers);
  const sourceIp = sourceIpOf(event);
  if (requirement === 'iam') {
    // The gateway has checked the signature; if it names no signer, the request was not signed.
    const arn = (event.requestContext as { authorizer?: { iam?: { userArn?: string } } }).authorizer?.iam
      ?.userArn;
    if (!arn) throw refuse('auth.missing');
    return { ...ctx, sourceIp, actor: { kind: 'platform_team', id: arn } };
  }
  const params = event.pathParameters ?? {};
  const authorized = await authorize(
    event.headers['authorization'],
    requirement,
    event.routeKey,
    params,
    ctx.now,
  ).catch(async (error: unknown) => {
    if (error instanceof ForeignRequest) {
      // Counted like any call: somebody with a stolen token must not fill the audit log.
      const known = { ...ctx, sourceIp, actor: error.actor };
      Object.assign(headers, limitCaller(known));
      await recordForeignRequest(known, event.routeKey, error);
    }
    throw error;
  });
  const known = { ...withPrincipal(ctx, authorized), sourceIp };
  Object.assign(headers, limitCaller(known));
  return known;
};
