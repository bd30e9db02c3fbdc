import type { Answer, ProblemKind, Ref, Schema } from '../functions/docs/document.ts';
import { type ProblemCode, PROBLEMS } from '../functions/problems.ts';
import { scopeOf } from '../functions/platform/route.ts';
import type { RouteInFull } from './endpoints.ts';

/** All but the one that never leaves the platform: it means that the first answer is given again. */
const SHOWN = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => code !== 'idempotency.replayed');

export const problemKinds: ProblemKind[] = SHOWN.map((code) => ({ code, ...PROBLEMS[code] }));

/** RFC 9457, with a code to match on. */
export const Problem: Schema = {
  type: 'object',
  description: 'Why a request was refused.',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    code: { type: 'string', enum: SHOWN, description: 'A stable code; match on it' },
    correlation_id: { type: 'string', description: 'The id of the request in the log' },
    retryable: { type: 'boolean', description: 'Whether the same request may succeed later, unchanged' },
    errors: {
      type: 'array',
      description: 'Every problem of the input',
      items: {
        type: 'object',
        properties: {
          pointer: {
            type: 'string',
            description:
              'A JSON pointer into the body; after a ?, into the query; where artifacts of a version are not ready, into the version',
          },
          detail: { type: 'string', description: 'What was expected there' },
          hint: { type: 'string', description: 'What to do' },
        },
        required: ['pointer', 'detail'],
      },
    },
  },
  required: ['type', 'title', 'status', 'code', 'correlation_id', 'retryable'],
};

const STATUSES: Record<number, { name: string; description: string; headers?: Record<string, Ref> }> = {
  400: { name: 'BadRequest', description: 'The request is not valid' },
  401: {
    name: 'Unauthorized',
    description: 'The request is not authenticated',
    headers: { 'WWW-Authenticate': header('WwwAuthenticate') },
  },
  403: { name: 'Forbidden', description: "The caller's role does not allow this" },
  404: { name: 'NotFound', description: 'The resource does not exist, or the caller may not see it' },
  405: {
    name: 'MethodNotAllowed',
    description: 'The route does not take this method',
    headers: { Allow: header('Allow') },
  },
  409: { name: 'Conflict', description: 'The current state of the resource does not allow this' },
  412: { name: 'PreconditionFailed', description: 'The resource has changed since the caller read it' },
  413: { name: 'TooLarge', description: 'The body is too large' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not application/json, or not UTF-8' },
  422: { name: 'OtherBody', description: 'The idempotency key was used for another request' },
  429: {
    name: 'TooManyRequests',
    description: 'The caller has exceeded a rate limit',
    headers: {
      'Retry-After': header('RetryAfter'),
      'RateLimit-Policy': header('RateLimitPolicy'),
      RateLimit: header('RateLimit'),
    },
  },
  500: { name: 'InternalError', description: 'Something went wrong on our side' },
  503: {
    name: 'Unavailable',
    description: 'A part of the platform is temporarily unavailable; try again',
    headers: { 'Retry-After': header('RetryAfter') },
  },
};

function statusOf(code: ProblemCode) {
  const { status } = PROBLEMS[code];
  const known = STATUSES[status];
  if (!known) throw new Error(`lib/openapi-problems.ts has no entry for status ${status} of ${code}.`);
  return { status, ...known };
}

/** One answer a status, for all routes that may give it; the first code of the status is its example. */
export function problemAnswers(): Record<string, Answer> {
  const answers: Record<string, Answer> = {};
  for (const code of SHOWN) {
    const { status, name, description, headers } = statusOf(code);
    answers[name] ??= {
      description,
      headers: { 'X-Request-ID': header('RequestId'), ...headers },
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          example: exampleOf(code, status),
        },
      },
    };
  }
  return answers;
}

function exampleOf(code: ProblemCode, status: number) {
  const { title, retryable } = PROBLEMS[code];
  return { type: `urn:gpuaas:problem:${code}`, title, status, code, correlation_id: 'look-1', retryable };
}

export function problemRefs(codes: ProblemCode[]): Record<string, Ref> {
  const named = codes.map(statusOf).sort((a, b) => a.status - b.status);
  return Object.fromEntries(
    named.map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

/** Every code a route may refuse with: what its kind implies, and what its endpoint says besides. */
export function problemCodesOf(route: RouteInFull): ProblemCode[] {
  const { endpoint, permission } = route;
  const codes = new Set<string>([
    'request.invalid',
    'internal',
    'unavailable',
    ...(permission === 'iam' ? [] : (['rate.exceeded'] as const)),
    ...codesOfCaller(route),
    ...codesOfPlaces(route),
    ...(endpoint.kind === 'command' ? codesOfCommand(endpoint.spec.idempotency) : []),
    ...(endpoint.kind === 'command' || endpoint.spec.body ? CODES_OF_BODY : []),
    ...(endpoint.spec.denied ? [endpoint.spec.denied('').code] : []),
    ...(endpoint.spec.refusals ?? []),
  ]);
  for (const code of codes)
    if (!(code in PROBLEMS)) throw new Error(`${route.route} refuses with the unknown code ${code}.`);
  return SHOWN.filter((code) => codes.has(code));
}

function codesOfCaller({ permission, endpoint }: RouteInFull): ProblemCode[] {
  // A public route with a body is one where credentials are tried.
  if (permission === 'public') return endpoint.kind === 'command' ? ['auth.assertion_refused'] : [];
  if (permission === 'iam') return ['auth.missing'];
  const token: ProblemCode[] = ['auth.missing', 'auth.invalid', 'auth.revoked'];
  return permission === 'signed_in' ? token : [...token, 'permission.denied'];
}

/** Things a path names by id are unknown to whoever may not see them. */
function codesOfPlaces({ route, path }: RouteInFull): ProblemCode[] {
  const scope = scopeOf(route);
  const named = [...path.matchAll(/\{(\w+)_id\}/g)].map(([, noun]) => (noun === 'user' ? 'member' : noun));
  return [scope, ...named]
    .map((noun) => `${noun}.unknown`)
    .filter((code): code is ProblemCode => code in PROBLEMS);
}

// Headers are validated even if the route does not use them.
const CODES_OF_BODY: ProblemCode[] = [
  'request.malformed',
  'request.media_type',
  'request.encoding',
  'request.too_large',
  'precondition.failed',
  'idempotency.key_invalid',
];

function codesOfCommand(idempotency: 'required' | 'optional' | 'none' | undefined): ProblemCode[] {
  return [
    'request.conflict',
    ...(idempotency === 'none' ? [] : (['idempotency.other_body', 'idempotency.in_flight'] as const)),
    ...(idempotency === 'required' ? (['idempotency.key_missing'] as const) : []),
  ];
}

function header(name: string): Ref {
  return { $ref: `#/components/headers/${name}` };
}
