import type { CorsSpec } from './apis.ts';

type Headers = Record<string, string>;

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html */
export function isPreflight(method: string, headers: Headers): boolean {
  return (
    method === 'OPTIONS' &&
    headers['origin'] !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** The answer's headers as a browser gets them: an API that has a CORS configuration ignores its functions' own. */
export function withCors(cors: CorsSpec, method: string, request: Headers, answer: Headers): Headers {
  const own = Object.fromEntries(
    Object.entries(answer).filter(([name]) => !name.startsWith('access-control-')),
  );
  const allowed = originHeaders(cors, request);
  if (allowed === undefined) return own;
  return {
    ...own,
    ...allowed,
    ...(isPreflight(method, request)
      ? preflightHeaders(cors)
      : list('access-control-expose-headers', cors.exposeHeaders)),
    vary: own['vary'] === undefined ? 'origin' : `${own['vary']}, origin`,
  };
}

function preflightHeaders(cors: CorsSpec): Headers {
  return {
    ...list('access-control-allow-methods', cors.allowMethods),
    ...list('access-control-allow-headers', cors.allowHeaders),
    ...(cors.maxAgeSeconds !== undefined && { 'access-control-max-age': String(cors.maxAgeSeconds) }),
  };
}

function originHeaders(cors: CorsSpec, { origin }: Headers): Headers | undefined {
  if (origin === undefined) return undefined;
  const scheme = `${origin.split('//')[0]}//*`;
  const isAllowed = ['*', scheme, origin].some((pattern) => cors.allowOrigins.includes(pattern));
  if (!isAllowed) return undefined;
  const anyone = cors.allowOrigins.includes('*') && !cors.allowCredentials;
  return {
    'access-control-allow-origin': anyone ? '*' : origin,
    ...(cors.allowCredentials && { 'access-control-allow-credentials': 'true' }),
  };
}

function list(name: string, values: string[]): Headers {
  return values.length === 0 ? {} : { [name]: values.join(',') };
}
