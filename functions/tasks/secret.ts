// A value that one host may fetch once. The table has it sealed under the handle, which it does not have.

import * as v from 'valibot';
import { epochSeconds } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { NodeId, textOf } from '../platform/ids.ts';

export const KeptSecret = v.object({
  /** Names it in the audit; neither value nor handle can be told from it. */
  secret_id: v.string(),
  node_id: textOf<NodeId>(),
  sealed: v.string(),
  created_at: v.string(),
  /** Which of the host's fetches it was given to. */
  fetch_id: v.optional(v.string()),
  fetched_at: v.optional(v.string()),
  /** Seconds since 1970: the table forgets it then by itself, and late. */
  expires_at: v.number(),
});
export type KeptSecret = v.InferOutput<typeof KeptSecret>;

const SECRET_REFUSALS = ['foreign', 'fetched', 'expired'] as const;
export type SecretRefusal = (typeof SECRET_REFUSALS)[number];

/** A host that has another's handle learns nothing, not even whether the secret was fetched. */
export function judgeFetch(
  secret: KeptSecret,
  nodeId: NodeId,
  fetchId: string,
  now: Date,
): 'give' | SecretRefusal {
  if (secret.node_id !== nodeId) return 'foreign';
  if (secret.expires_at <= epochSeconds(now)) return 'expired';
  return (secret.fetch_id ?? fetchId) === fetchId ? 'give' : 'fetched';
}

export const subjectOfSecret = ({ secret_id }: Pick<KeptSecret, 'secret_id'>): string =>
  `secret:${secret_id}`;

/** Somebody else has the handle, or has fetched the value before: the secret should be changed. */
export const SecretRefused = event(
  'platform.node.secret_refused',
  1,
  v.object({ node_id: NodeId, secret_id: v.string(), reason: v.picklist(SECRET_REFUSALS) }),
);
