// RFC 7523: the node shows that it holds its key, and gets a token for an hour.

import { randomUUID, type KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { NODE_TOKEN_PATH } from '../../functions/nodes/agent-api.ts';
import { askJson } from './http.ts';
import { signWith } from './node-key.ts';

/** Renewed while it still works. */
const MARGIN_MS = 5 * 60_000;
const ASSERTION_SECONDS = 60;

const TokenReply = v.object({ access_token: v.string(), expires_in: v.number() });

export interface NodeTokens {
  /** One that still works for a while. Those who ask at the same time wait for the same one: each costs a signature. */
  get(): Promise<string>;
  /** It was refused: the next one who asks gets a new one. */
  drop(token: string): void;
}

export function createNodeTokens(url: string, nodeId: string, key: KeyObject, now: () => Date): NodeTokens {
  let held: { token: string; renewAtMs: number } | undefined;
  let pending: Promise<string> | undefined;

  async function mint(): Promise<string> {
    const iat = Math.floor(now().getTime() / 1000);
    const aud = url + NODE_TOKEN_PATH;
    const claims = { iss: nodeId, sub: nodeId, aud, iat, exp: iat + ASSERTION_SECONDS, jti: randomUUID() };
    const assertion = await signWith(key, claims, nodeId);
    const request = { method: 'POST', path: NODE_TOKEN_PATH, body: { assertion } } as const;
    const { access_token, expires_in } = await askJson(url, request, TokenReply);
    const lifeMs = expires_in * 1000;
    held = { token: access_token, renewAtMs: now().getTime() + lifeMs - Math.min(MARGIN_MS, lifeMs / 2) };
    return access_token;
  }

  return {
    get() {
      if (held && now().getTime() < held.renewAtMs) return Promise.resolve(held.token);
      pending ??= mint().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    drop(token) {
      if (held?.token === token) held = undefined;
    },
  };
}
