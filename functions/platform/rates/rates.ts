// How much one caller may ask of the platform. Counted in the memory of the warm function, so a call pays nothing
// for it; docs/decisions/0006-rate-limits-in-memory.md says what that promises and what it does not.

import { nameActor } from '../actor.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { type Limit, type BucketLevel, windowMsOf } from './rate-bucket.ts';
import { Buckets } from './rate-buckets.ts';
import { networkOf } from './rate-source.ts';

/** Every limit there is. Nobody who uses the platform as it is meant should ever meet one. */
export const LIMITS = {
  /** One person or service account: 50 a second. */
  principal: { quota: 200, intervalMs: 20, bucketsMax: 4_000 },
  /** All of one organisation together: 200 a second. */
  org: { quota: 1_000, intervalMs: 5, bucketsMax: 1_000 },
  /** Documents and health, by address: many people may share one. */
  source: { quota: 200, intervalMs: 20, bucketsMax: 2_500 },
  /** Where credentials are tried, by address: 60 a minute. An account needs one token in a quarter of an hour. */
  token: { quota: 60, intervalMs: 1_000, bucketsMax: 2_500 },
} as const satisfies Record<string, Limit & { bucketsMax: number }>;

type LimitName = keyof typeof LIMITS;

const buckets = Object.fromEntries(
  Object.entries(LIMITS).map(([name, limit]) => [name, new Buckets(limit, limit.bucketsMax)]),
) as Record<LimitName, Buckets>;

const POLICIES = Object.fromEntries(
  Object.entries(LIMITS).map(([name, limit]) => [
    name,
    `"${name}";q=${limit.quota};w=${wholeSeconds(windowMsOf(limit))}`,
  ]),
) as Record<LimitName, string>;

/** One call, as one limit sees it. */
interface Counted {
  name: LimitName;
  caller: string;
  standing: BucketLevel;
}

/** A public route: all that is known of the caller is an address. */
export function limitSource(route: string, sourceIp: string, now: Date): Record<string, string> {
  const nowMs = now.getTime();
  // What anybody may send something to is where credentials are tried.
  const name = /^(GET |\$default$)/.test(route) ? 'source' : 'token';
  return spend([look(name, networkOf(sourceIp), nowMs)], nowMs);
}

/** An authenticated call: counted for the principal and, where the path names a place, for its organisation. */
export function limitCaller({ actor, project, org, now }: Context): Record<string, string> {
  const nowMs = now().getTime();
  const orgId = project?.org_id ?? org?.id;
  const counted = [look('principal', nameActor(actor), nowMs)];
  if (orgId !== undefined) counted.push(look('org', orgId, nowMs));
  return spend(counted, nowMs);
}

function look(name: LimitName, caller: string, nowMs: number): Counted {
  return { name, caller, standing: buckets[name].look(caller, nowMs) };
}

// A call one limit refuses is not counted by the other: one member's flood must not use up the organisation's share.
function spend(counted: Counted[], nowMs: number): Record<string, string> {
  const headers = headersOf(counted, nowMs);
  const waitMs = Math.max(...counted.map(({ standing }) => standing.waitMs));
  if (waitMs > 0) {
    throw refuse('rate.exceeded', { headers: { 'retry-after': wholeSeconds(waitMs), ...headers } });
  }
  for (const { name, caller, standing } of counted) buckets[name].spend(caller, standing, nowMs);
  return headers;
}

/** draft-ietf-httpapi-ratelimit-headers: `q` calls in `w` seconds; `r` of them left, all again in `t` seconds. */
function headersOf(counted: Counted[], nowMs: number): Record<string, string> {
  const policies = counted.map(({ name }) => POLICIES[name]);
  const left = counted.map(
    ({ name, standing }) => `"${name}";r=${standing.remaining};t=${wholeSeconds(standing.fullAtMs - nowMs)}`,
  );
  return { 'ratelimit-policy': policies.join(', '), ratelimit: left.join(', ') };
}

function wholeSeconds(ms: number): string {
  return String(Math.ceil(ms / 1000));
}
