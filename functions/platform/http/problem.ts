import { isTransient } from '../aws-errors.ts';
import { type InputFault, Refusal, refuse } from '../errors.ts';

/** The one error envelope: RFC 9457, with our code, the correlation id and whether to try again. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  code: string;
  correlation_id: string;
  retryable: boolean;
  errors?: InputFault[];
}

export const RETRY_AFTER_SECONDS = 1;

/** Anything thrown, as the caller may see it: an unknown cause is named `internal` and nothing more is told. */
export function problemOf(error: unknown, correlationId: string): Problem {
  const refusal = error instanceof Refusal ? error : refuse(isTransient(error) ? 'unavailable' : 'internal');
  const { code, kind, detail, faults } = refusal;
  return {
    type: `urn:gpuaas:problem:${code}`,
    title: kind.title,
    status: kind.status,
    ...(detail && { detail }),
    code,
    correlation_id: correlationId,
    retryable: kind.retryable,
    ...(faults.length && { errors: faults }),
  };
}
