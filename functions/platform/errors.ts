// The problems of the platform. A code is part of the API: callers match on it. Each domain has its own `problems.ts`;
// here are the problems that every domain may answer with.

export interface ProblemKind {
  status: number;
  /** Whether the same request may succeed later, unchanged. */
  retryable: boolean;
  title: string;
}

export type Problems = Record<string, ProblemKind>;

export const platformProblems = {
  'request.invalid': { status: 400, retryable: false, title: 'The request is not valid' },
  'request.malformed': { status: 400, retryable: false, title: 'The body is not valid JSON' },
  'request.media_type': { status: 415, retryable: false, title: 'Send the body as application/json' },
  'request.encoding': { status: 415, retryable: false, title: 'Send the body as UTF-8, not compressed' },
  'request.too_large': { status: 413, retryable: false, title: 'The body is too large' },
  'request.conflict': {
    status: 409,
    retryable: true,
    title: 'The resource was changed by another request at the same time',
  },
  'precondition.failed': {
    status: 412,
    retryable: false,
    title: 'The resource has changed since you read it',
  },
  'idempotency.key_missing': { status: 400, retryable: false, title: 'Send an X-Idempotency-Key header' },
  'idempotency.key_invalid': { status: 400, retryable: false, title: 'The idempotency key is not valid' },
  'idempotency.other_body': {
    status: 422,
    retryable: false,
    title: 'The idempotency key was used for another request',
  },
  'idempotency.in_flight': {
    status: 409,
    retryable: true,
    title: 'A request with this idempotency key is still in progress',
  },
  /** Never shown: it means that the first answer is to be given again. */
  'idempotency.replayed': { status: 409, retryable: true, title: 'The request was made before' },
  'auth.missing': { status: 401, retryable: false, title: 'Send a bearer token' },
  'auth.invalid': { status: 401, retryable: false, title: 'The token is not valid or has expired' },
  'auth.revoked': { status: 401, retryable: false, title: 'The token was revoked' },
  'auth.assertion_refused': { status: 401, retryable: false, title: 'The credentials are not valid' },
  'permission.denied': { status: 403, retryable: false, title: 'Your role does not allow this' },
  'rate.exceeded': { status: 429, retryable: true, title: 'Too many requests' },
  'org.unknown': { status: 404, retryable: false, title: 'The organisation was not found' },
  'project.unknown': { status: 404, retryable: false, title: 'The project was not found' },
  'project.archived': { status: 409, retryable: false, title: 'The project is archived' },
  'node.unknown': { status: 404, retryable: false, title: 'The node was not found' },
  'route.unknown': { status: 404, retryable: false, title: 'The route does not exist' },
  'route.method_not_allowed': { status: 405, retryable: false, title: 'The route does not take this method' },
  internal: { status: 500, retryable: false, title: 'Something went wrong on our side' },
  unavailable: { status: 503, retryable: true, title: 'A part of the platform is temporarily unavailable' },
} as const satisfies Problems;

/**
 * One thing wrong with the input: where, as a JSON pointer, what was expected, and where it helps, what to do.
 * Never the value that was sent.
 */
export interface InputFault {
  pointer: string;
  detail: string;
  hint?: string;
}

interface More {
  detail?: string;
  faults?: InputFault[];
  /** What the answer says besides, such as Retry-After. */
  headers?: Record<string, string>;
}

/** A decided no. As a workflow error its name is the code, so a state machine can match on it. */
export class Refusal extends Error {
  readonly code: string;
  readonly kind: ProblemKind;
  readonly detail: string | undefined;
  readonly faults: InputFault[];
  readonly headers: Record<string, string>;

  constructor(code: string, kind: ProblemKind, { detail, faults = [], headers = {} }: More) {
    super(detail ?? kind.title);
    this.name = code;
    this.code = code;
    this.kind = kind;
    this.detail = detail;
    this.faults = faults;
    this.headers = headers;
  }
}

/** The `refuse` of a domain: it knows the domain's own codes, those of the domains it builds on, and the kernel's. */
export function refusing<T extends Problems>(problems: T) {
  const known = { ...platformProblems, ...problems } as Record<Code<T>, ProblemKind>;
  return (code: Code<T>, more: More = {}): Refusal => new Refusal(code, known[code], more);
}

type Code<T extends Problems> = (keyof T | keyof typeof platformProblems) & string;

export const refuse = refusing({});
