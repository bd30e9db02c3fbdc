import { hash } from 'node:crypto';
import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../clock.ts';
import { put, type Write } from '../data/commit.ts';
import { refuse } from '../errors.ts';
import { receiptKey } from '../data/keys.ts';
import type { Request } from './request.ts';
import { seal, sealingKey, unseal } from '../data/seal.ts';
import { readItem } from '../data/table.ts';

const KEPT_SECONDS = 24 * 3600;
/** How long a replay still carries what was secret in the first answer. */
const SECRETS_KEPT_SECONDS = 10 * 60;

const Receipt = v.object({
  fingerprint: v.string(),
  status: v.number(),
  headers: v.record(v.string(), v.string()),
  body: v.string(),
  sealed: v.optional(v.string()),
  sealed_until: v.optional(v.number()),
  expires_at: v.number(),
});
type Receipt = v.InferOutput<typeof Receipt>;

export interface Replyable {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  secrets?: Record<string, string>;
}

/** What makes two requests the same: where they went and what they said. */
function fingerprintOf({ route, params, query, bodyText = '' }: Request): string {
  return hash('sha256', JSON.stringify([route, params, query, bodyText]));
}

/** Committed with the change, so that a repeated request gets the first answer again and has no second effect. */
export function insertReceipt(
  actor: string,
  request: Request & { idempotencyKey: string },
  reply: Replyable,
  now: Date,
): Write {
  const { idempotencyKey } = request;
  const secrets = reply.secrets && {
    sealed: seal(JSON.stringify(reply.secrets), sealingKeyOf(actor, idempotencyKey)),
    sealed_until: epochSeconds(secondsAfter(now, SECRETS_KEPT_SECONDS)),
  };
  const receipt: Receipt = {
    fingerprint: fingerprintOf(request),
    status: reply.status,
    headers: reply.headers,
    body: JSON.stringify(reply.body),
    ...secrets,
    expires_at: epochSeconds(secondsAfter(now, KEPT_SECONDS)),
  };
  return put(
    { ...receiptKey(actor, idempotencyKey), ...receipt },
    // DynamoDB deletes expired items late.
    { condition: 'attribute_not_exists(pk) OR expires_at <= :now', values: { ':now': epochSeconds(now) } },
    refuse('idempotency.replayed'),
  );
}

export type Replay = 'none' | 'other_body' | Replyable;

export async function findReplay(
  actor: string,
  request: Request & { idempotencyKey: string },
  now: Date,
): Promise<Replay> {
  const item = await readItem(receiptKey(actor, request.idempotencyKey));
  if (!item) return 'none';
  const receipt = v.parse(Receipt, item);
  if (receipt.expires_at <= epochSeconds(now)) return 'none';
  if (receipt.fingerprint !== fingerprintOf(request)) return 'other_body';
  const { status, headers, body } = receipt;
  const secrets = readSecrets(receipt, sealingKeyOf(actor, request.idempotencyKey), now);
  return { status, headers, body: JSON.parse(body) as Record<string, unknown>, ...(secrets && { secrets }) };
}

function readSecrets(
  { sealed, sealed_until = 0 }: Receipt,
  key: Buffer,
  now: Date,
): Record<string, string> | undefined {
  if (sealed === undefined || sealed_until <= epochSeconds(now)) return undefined;
  return JSON.parse(unseal(sealed, key)) as Record<string, string>;
}

// Only who knows the idempotency key can open it: the table holds its hash, never the key.
const sealingKeyOf = (actor: string, idempotencyKey: string): Buffer =>
  sealingKey(idempotencyKey, actor, 'receipt');
