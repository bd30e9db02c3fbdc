// What an error of an AWS client means to us. Services disagree on names and status codes, so each question is
// answered here once.

const DENIED =
  /^(AccessDenied(Exception)?|KMSAccessDeniedException|NotAuthorizedException|ForbiddenException)$/;
/** `Unprocessed` is our own name for a batch that DynamoDB did in part. */
const THROTTLED =
  /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded|TooManyRequests|SlowDown|^Unprocessed$/;
const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;
const TIMED_OUT = /^(TimeoutError|RequestTimeout|RequestTimeoutException|AbortError)$/;
/** The same transaction is still being carried out, or another one holds the item. */
const UNDER_WAY = /^Transaction(InProgress|Conflict)Exception$/;
const BUSY_TRANSACTION = /^(TransactionConflict|ThrottlingError|ProvisionedThroughputExceeded)$/;

interface AwsFields {
  code?: unknown;
  $metadata?: { httpStatusCode?: number };
  CancellationReasons?: { Code?: string }[];
}

/** The caller's own role lacks a permission; the message names the action and the resource. */
export function isDenied(error: unknown): error is Error {
  return error instanceof Error && DENIED.test(error.name);
}

/** It was not done: the service has no room for it at the moment, or a transaction holds the item. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    THROTTLED.test(error.name) ||
    UNDER_WAY.test(error.name) ||
    cancellations(error).some((reason) => BUSY_TRANSACTION.test(reason))
  );
}

/** Nothing is wrong with the request: the same call may succeed in a moment. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, $metadata } = error as AwsFields;
  const status = $metadata?.httpStatusCode ?? 0;
  return (
    isBusy(error) ||
    TIMED_OUT.test(error.name) ||
    (typeof code === 'string' && UNREACHABLE.test(code)) ||
    status === 429 ||
    status >= 500
  );
}

export function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

/** Why each write of a cancelled transaction failed, by position; `None` where it did not. */
export function cancellations(error: unknown): string[] {
  if (!isNamed(error, 'TransactionCanceledException')) return [];
  return ((error as AwsFields).CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
}
