// How other domains give a host a secret: the value is committed sealed, the handle goes into the task.

import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import type { Context } from '../platform/context.ts';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import type { Write } from '../platform/data/commit.ts';
import { seal, sealingKey } from '../platform/data/seal.ts';
import type { NodeId } from '../platform/ids.ts';
import { insertSecret } from './secret-store.ts';

/** As base64 it fits the answer. */
const BYTES_MAX = 48 * 1024;

export interface PlannedSecret {
  /** For the task alone. Whoever has it and is that node can fetch the value, once. */
  handle: string;
  writes: Write[];
}

export function planSecret(
  ctx: Pick<Context, 'newId' | 'now'>,
  { node_id, value, seconds }: { node_id: NodeId; value: Uint8Array; seconds: number },
): PlannedSecret {
  if (value.byteLength > BYTES_MAX) throw new Error(`A secret has at most ${BYTES_MAX} bytes.`);
  const { token: handle, tokenHash } = makeOneTimeToken();
  const now = ctx.now();
  const secret = {
    secret_id: ctx.newId(),
    node_id,
    sealed: seal(Buffer.from(value).toString('base64'), keyOf(handle, node_id)),
    created_at: now.toISOString(),
    expires_at: epochSeconds(secondsAfter(now, seconds)),
  };
  return { handle, writes: [insertSecret(tokenHash, secret)] };
}

/** The table has the hash of the handle, never the handle: what it holds opens nothing. */
export const keyOf = (handle: string, nodeId: NodeId): Buffer => sealingKey(handle, nodeId, 'node secret');
