import { edge } from '../platform/edge/edge.ts';
import { refuse } from '../platform/errors.ts';
import { admitAnyone } from '../platform/http/public-api.ts';
import { httpShape } from '../platform/http/serve.ts';
import { routes } from '../routes.ts';
import { methodsOf } from './methods.ts';

const LINES = Object.keys(routes);

/** Answers what the gateway has no route for, so that it gets a problem as any other refusal. */
export const handler = edge(
  {
    ...httpShape('unrouted'),
    admit: (ctx, event, headers) => admitAnyone(ctx, event, 'public', headers),
  },
  async (_ctx, { headers, requestContext: { http } }) => {
    const methods = methodsOf(LINES, http.path);
    const allow = [...methods, 'OPTIONS'].join(', ');
    const isKnown = methods.length > 0;
    // Wherever a browser asks before it sends something, it may: what it sends then gets an answer that it can read.
    if (http.method === 'OPTIONS' && (isKnown || headers['access-control-request-method'] !== undefined))
      return { statusCode: 204, headers: { allow } };
    // If the tables do have the method, the gateway and the tables do not agree on the path.
    if (!isKnown || methods.includes(http.method))
      throw refuse('route.unknown', { detail: 'There is no such route; see /docs.' });
    throw refuse('route.method_not_allowed', {
      detail: `This route takes ${allow}.`,
      headers: { allow },
    });
  },
);
