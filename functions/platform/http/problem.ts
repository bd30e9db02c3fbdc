import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { isTransient } from '../aws-errors.ts';
import type { Context } from '../context.ts';
import { type InputFault, Refusal, refuse } from '../errors.ts';
import type { CorrelationId } from '../ids.ts';

/** The one error envelope: RFC 9457, with our code, the correlation id and whether to try again. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  code: string;
  correlation_id: CorrelationId;
  retryable: boolean;
  errors?: InputFault[];
}

const RETRY_AFTER_SECONDS = 1;

/** Any error as the caller may see it: an unknown cause becomes `internal`, without details. */
export function problemOf(error: unknown, correlationId: CorrelationId): Problem {
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

/** The answer to a request that failed or was refused. */
export function answerProblem(
  ctx: Context,
  route: string | undefined,
  error: unknown,
): APIGatewayProxyStructuredResultV2 {
  const problem = problemOf(error, ctx.correlationId);
  if (problem.status >= 500) ctx.log.error('The request failed.', { route, code: problem.code, error });
  else ctx.log.info('The request was refused.', { route, code: problem.code });
  const headers = {
    'content-type': 'application/problem+json',
    ...(problem.status === 503 && { 'retry-after': String(RETRY_AFTER_SECONDS) }),
    // RFC 6750 §3
    ...(problem.status === 401 && { 'www-authenticate': 'Bearer realm="gpuaas"' }),
    ...(error instanceof Refusal && error.headers),
  };
  return { statusCode: problem.status, headers, body: JSON.stringify(problem) };
}
