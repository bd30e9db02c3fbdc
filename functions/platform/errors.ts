// Every way the platform says no, in one place. A code is part of the API: callers match on it.

interface Kind {
  status: number;
  /** Whether the same request may succeed later, unchanged. */
  retryable: boolean;
  title: string;
}

export const PROBLEMS = {
  'request.invalid': { status: 400, retryable: false, title: 'The request is not valid' },
  'request.malformed': { status: 400, retryable: false, title: 'The body is not JSON' },
  'request.media_type': { status: 415, retryable: false, title: 'Send the body as application/json' },
  'request.too_large': { status: 413, retryable: false, title: 'The body is too large' },
  'request.conflict': { status: 409, retryable: true, title: 'Somebody else changed the same thing' },
  'precondition.failed': { status: 412, retryable: false, title: 'It has changed since you read it' },
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
    title: 'A request with this idempotency key is under way',
  },
  /** Never shown: it means that the first answer is to be given again. */
  'idempotency.replayed': { status: 409, retryable: true, title: 'The request was made before' },

  'auth.missing': { status: 401, retryable: false, title: 'Send a bearer token' },
  'auth.invalid': { status: 401, retryable: false, title: 'The token is not valid or has expired' },
  'auth.revoked': { status: 401, retryable: false, title: 'The token was revoked' },
  'auth.assertion_refused': { status: 401, retryable: false, title: 'The credentials are not valid' },
  'permission.denied': { status: 403, retryable: false, title: 'Your role does not allow this' },
  'rate.exceeded': { status: 429, retryable: true, title: 'Too many requests' },

  'org.unknown': { status: 404, retryable: false, title: 'No such organisation' },
  'org.slug_taken': { status: 409, retryable: false, title: 'Another organisation has this slug' },
  'project.unknown': { status: 404, retryable: false, title: 'No such project' },
  'project.slug_taken': { status: 409, retryable: false, title: 'Another project has this slug' },
  'project.archived': { status: 409, retryable: false, title: 'The project is archived' },
  'project.in_use': { status: 409, retryable: false, title: 'Something still runs in the project' },
  'member.unknown': { status: 404, retryable: false, title: 'No such member' },
  'member.last_admin': { status: 409, retryable: false, title: 'The last administrator cannot go' },
  'member.too_many_grants': {
    status: 409,
    retryable: false,
    title: 'This person has too many roles already',
  },
  'invitation.unknown': {
    status: 404,
    retryable: false,
    title: 'The invitation is unknown, used or expired',
  },
  'invitation.other_email': {
    status: 403,
    retryable: false,
    title: 'The invitation is for another address',
  },
  'service_account.unknown': { status: 404, retryable: false, title: 'No such service account' },
  'service_account.slug_taken': {
    status: 409,
    retryable: false,
    title: 'Another service account has this slug',
  },
  'service_account.too_many_keys': {
    status: 409,
    retryable: false,
    title: 'Too many keys of this service account still work',
  },
  'signing_key.just_rotated': {
    status: 409,
    retryable: true,
    title: 'The signing key was rotated a moment ago',
  },

  'app.unknown': { status: 404, retryable: false, title: 'No such app' },
  'app.slug_taken': { status: 409, retryable: false, title: 'The slug belongs to another project' },
  'app.backend_fixed': { status: 409, retryable: false, title: 'An app keeps its runtime backend' },
  'app.too_many': { status: 409, retryable: false, title: 'The catalogue is full' },
  'app.too_many_versions': { status: 409, retryable: false, title: 'The app has too many versions' },
  'manifest.invalid': { status: 400, retryable: false, title: 'The manifest is not valid' },
  'manifest.malformed': { status: 400, retryable: false, title: 'The manifest is neither JSON nor YAML' },
  'submission.unknown': { status: 404, retryable: false, title: 'No such submission' },
  'submission.own': { status: 403, retryable: false, title: 'Somebody else must review your submission' },
  'submission.decided': { status: 409, retryable: false, title: 'The submission has been decided' },
  'version.unknown': { status: 404, retryable: false, title: 'No such version' },
  'version.exists': { status: 409, retryable: false, title: 'The version exists and has left draft' },
  'version.wrong_status': {
    status: 409,
    retryable: false,
    title: 'The status of the version does not allow this',
  },
  'version.in_use': { status: 409, retryable: false, title: 'Instances still use the version' },
  'version.artifacts_unready': {
    status: 409,
    retryable: false,
    title: 'The version would outrank its artifacts',
  },
  'promotion.unknown': { status: 404, retryable: false, title: 'It was never promoted' },
  'promotion.in_progress': {
    status: 409,
    retryable: false,
    title: 'A promotion of it is under way',
  },
  'promotion.not_waiting': { status: 409, retryable: false, title: 'No promotion waits for this answer' },
  'entitlement.unknown': { status: 404, retryable: false, title: 'Nobody here has decided about the app' },
  'entitlement.wider_than_org': {
    status: 409,
    retryable: false,
    title: 'The organisation allows less than this',
  },
  'entitlement.too_many': { status: 409, retryable: false, title: 'Too many apps have entitlements here' },

  'intent.unknown': { status: 404, retryable: false, title: 'No such publish intent' },
  'intent.expired': { status: 409, retryable: false, title: 'The publish intent has expired' },
  'intent.unwrapped': { status: 409, retryable: false, title: 'The credential was unwrapped before' },
  'intent.wrong_token': { status: 403, retryable: false, title: 'The wrapping token is not the one' },
  'artifact.unknown': { status: 404, retryable: false, title: 'No such artifact' },
  'artifact.exists': { status: 409, retryable: false, title: 'The artifact is registered already' },
  'artifact.foreign_source': {
    status: 422,
    retryable: false,
    title: 'The artifact does not lie where this project publishes the app',
  },
  'artifact.absent': { status: 422, retryable: false, title: 'Nothing with this digest is there' },
  'artifact.mismatched': { status: 422, retryable: false, title: 'What is there is something else' },
  'artifact.unfit': { status: 422, retryable: false, title: 'The platform does not run what is there' },
  'artifact.untrusted': { status: 422, retryable: false, title: 'The artifact could not be verified' },
  'artifact.revoked': { status: 409, retryable: false, title: 'The artifact was revoked' },
  'artifact.wrong_state': {
    status: 409,
    retryable: false,
    title: 'The state of the artifact does not allow this',
  },
  'artifact.in_use': { status: 409, retryable: false, title: 'A version or an instance uses the artifact' },
  'artifact.collected': { status: 409, retryable: true, title: 'What is there is being removed' },
  'artifact.too_many': { status: 409, retryable: false, title: 'Too many artifacts are the same' },
  'registry.unavailable': {
    status: 503,
    retryable: true,
    title: 'The registry does not answer as it should',
  },
  'store.unavailable': {
    status: 503,
    retryable: true,
    title: 'The object store does not answer as it should',
  },
  'trust_policy.unknown': { status: 404, retryable: false, title: 'No such trust policy' },
  'trust_policy.pattern_taken': {
    status: 409,
    retryable: false,
    title: 'Another trust policy has this pattern',
  },
  'trust_policy.too_many': { status: 409, retryable: false, title: 'There are too many trust policies' },
  'certificate.unknown': { status: 404, retryable: false, title: 'The certificate is not revoked' },
  'certificate.too_many': { status: 409, retryable: false, title: 'Too many certificates are revoked' },

  'message.invalid': { status: 400, retryable: false, title: 'The message is not valid' },
  'ticket.refused': { status: 401, retryable: false, title: 'The ticket is unknown, used or expired' },
  'connection.unknown': { status: 404, retryable: false, title: 'The connection is unknown or expired' },
  'route.unknown': { status: 404, retryable: false, title: 'No such route' },
  'selftest.unknown': { status: 404, retryable: false, title: 'No such self-test' },
  'selftest.denied': { status: 500, retryable: false, title: 'The platform lacks a permission of its own' },
  internal: { status: 500, retryable: false, title: 'Something went wrong on our side' },
  unavailable: { status: 503, retryable: true, title: 'A part of the platform does not answer' },
} as const satisfies Record<string, Kind>;

export type ProblemCode = keyof typeof PROBLEMS;

/**
 * One thing wrong with the input: where, as a JSON pointer, what was expected, and where it helps, what to do.
 * Never the value that was sent.
 */
export interface InputFault {
  pointer: string;
  detail: string;
  hint?: string;
}

/** A decided no. As a workflow error its name is the code, so a state machine can match on it. */
export class Refusal extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly faults: InputFault[];
  /** What the answer says besides, such as Retry-After. */
  readonly headers: Record<string, string>;

  constructor(
    code: ProblemCode,
    detail: string | undefined,
    faults: InputFault[],
    headers: Record<string, string>,
  ) {
    super(detail ?? PROBLEMS[code].title);
    this.name = code;
    this.code = code;
    this.detail = detail;
    this.faults = faults;
    this.headers = headers;
  }
}

export function refuse(
  code: ProblemCode,
  more: { detail?: string; faults?: InputFault[]; headers?: Record<string, string> } = {},
): Refusal {
  return new Refusal(code, more.detail, more.faults ?? [], more.headers ?? {});
}
