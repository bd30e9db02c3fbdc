// One request to the platform: bounded in time and in bytes, and every failure the same kind of error.

import * as v from 'valibot';
import { agentVersion } from '../config/version.ts';
import { parseJson, PlatformError, problemOf } from './platform-error.ts';

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const REQUEST_MS = 30_000;

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** JSON text, or what becomes it. */
  body?: object | string;
  token?: string;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export async function askJson<T>(
  url: string,
  request: HttpRequest,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const bytes = await askBytes(url, request, ANSWER_BYTES_MAX);
  const answer = v.safeParse(schema, parseJson(bytes.toString('utf8')));
  if (answer.success) return answer.output;
  throw new PlatformError('answer.invalid', `The platform's answer to ${request.path} is not understood.`, {
    isRetryable: false,
  });
}

export async function askBytes(url: string, request: HttpRequest, bytesMax: number): Promise<Buffer> {
  const { method, path, body, token, idempotencyKey, signal } = request;
  const timeout = AbortSignal.timeout(REQUEST_MS);
  try {
    const response = await fetch(url + path, {
      method,
      // A platform does not send its hosts elsewhere: whoever does must not get their token.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      headers: {
        accept: 'application/json, */*',
        'user-agent': `gpuaas-agent/${agentVersion}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(idempotencyKey !== undefined && { 'x-idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const bytes = await readBounded(response, bytesMax);
    if (!response.ok) throw problemOf(response, bytes.toString('utf8'));
    return bytes;
  } catch (error) {
    if (error instanceof PlatformError || signal?.aborted) throw error;
    const { message, cause } = error as Error;
    const why = cause instanceof Error && cause.message ? cause.message : message;
    throw new PlatformError('unreachable', `${url} cannot be reached: ${why}.`, { isRetryable: true });
  }
}

async function readBounded(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > bytesMax)
      throw new PlatformError('answer.too_large', `An answer has more than ${bytesMax} bytes.`, {
        isRetryable: false,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
