import { Failure } from './failure.ts';

/** How Step Functions speaks of a service whose call failed. */
export interface ServiceNames {
  /** The prefix of error names: `Lambda.TooManyRequestsException`. */
  prefix: string;
  /** The error for everything the service's model does not name, AccessDenied first of all. */
  generic: string;
  /** The SDK's base class; an error of exactly this class is one the model does not name. */
  baseError: abstract new (...args: never[]) => Error;
}

interface SdkError extends Error {
  $metadata?: { httpStatusCode?: number; requestId?: string };
}

export function nameCallFailure(service: ServiceNames, thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const error: SdkError = thrown instanceof Error ? thrown : new Error(String(thrown));
  const isAnswered: boolean = error instanceof service.baseError;
  if (!isAnswered) return new Failure(`${service.prefix}.SdkClientException`, error.message);
  const isModelled = Object.getPrototypeOf(error) !== service.baseError.prototype;
  const name = error.name.endsWith('Exception') ? error.name : `${error.name}Exception`;
  const { httpStatusCode, requestId } = error.$metadata ?? {};
  return new Failure(
    `${service.prefix}.${isModelled ? name : service.generic}`,
    `${error.message} (Service: ${service.prefix}; Status Code: ${httpStatusCode}; ` +
      `Error Code: ${error.name}; Request ID: ${requestId})`,
  );
}

/** The error a function returned: its type names the failure, the whole payload is the cause. */
export function functionFailure(payload: string): Failure {
  let errorType: unknown;
  try {
    errorType = (JSON.parse(payload) as { errorType?: unknown } | null)?.errorType;
  } catch {
    // A payload that is no JSON names no error.
  }
  return new Failure(
    typeof errorType === 'string' && errorType !== '' ? errorType : 'Lambda.Unknown',
    payload,
  );
}
