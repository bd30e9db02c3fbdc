import { randomUUID } from 'node:crypto';
import type * as v from 'valibot';
import { backOffMs, pause } from './back-off.ts';
import { askJson, type HttpRequest } from './http.ts';
import type { NodeTokens } from './node-token.ts';
import { PlatformError } from './platform-error.ts';

interface Ask extends Omit<HttpRequest, 'token'> {
  /** How often it is asked at most, if what goes wrong may go right later. */
  attempts?: number;
}

/** Asks the platform as this node. */
export type AskPlatform = <T>(ask: Ask, schema: v.GenericSchema<unknown, T>) => Promise<T>;

const ATTEMPTS = 4;

/** One key for all attempts: what the platform has done already is not done again. */
export function createPlatformClient(url: string, tokens: NodeTokens): AskPlatform {
  return async (ask, schema) => {
    const { attempts = ATTEMPTS, ...request } = ask;
    const idempotencyKey = ask.idempotencyKey ?? (ask.method === 'GET' ? undefined : randomUUID());
    for (let attempt = 1; ; attempt++) {
      try {
        return await askAsNode(url, tokens, { ...request, idempotencyKey }, schema);
      } catch (error) {
        if (!(error instanceof PlatformError && error.isRetryable) || attempt >= attempts) throw error;
        await pause(error.retryAfterMs ?? backOffMs(attempt), ask.signal);
        ask.signal?.throwIfAborted();
      }
    }
  };
}

/** A token may have been revoked, or its keys changed, before its hour is over: then once more with a new one. */
async function askAsNode<T>(
  url: string,
  tokens: NodeTokens,
  request: HttpRequest,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const token = await tokens.get();
  try {
    return await askJson(url, { ...request, token }, schema);
  } catch (error) {
    if (!(error instanceof PlatformError && error.status === 401)) throw error;
    tokens.drop(token);
    return askJson(url, { ...request, token: await tokens.get() }, schema);
  }
}
