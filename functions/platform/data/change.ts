import { type Actor, nameActor } from '../actor.ts';
import { insertAudit } from './audit.ts';
import { commit, Conflict, type Write } from './commit.ts';
import type { Context } from '../context.ts';
import { type Refusal, refuse } from '../errors.ts';
import type { DomainEvent } from '../events.ts';
import type { OrgId, ProjectId } from '../ids.ts';
import { insertSaid } from './outbox.ts';
import { retrying } from './retry.ts';

/** Something that changed, as one row of the audit tells it. */
interface Audited {
  /** What was changed: `service_account:<id>`. */
  subject: string;
  before?: unknown;
  after?: unknown;
}

/** What was decided, by a command or a step. Nothing of it has happened yet. */
export interface Decision extends Audited {
  reason?: string;
  writes: Write[];
  events?: DomainEvent[];
  /** What else changed, each with its own audit row: such as the version that another one replaces. */
  also?: Audited[];
  /** Who acted, if that is not the caller: a token request, or work done later. */
  actor?: Actor;
  /** The place it belongs to, where the path names none. */
  place?: { org_id?: OrgId; project_id?: ProjectId };
}

/** What a command has decided, and what it will answer. */
export interface Change extends Decision {
  reply: Record<string, unknown>;
  /** Members of the answer that must not be kept readable. */
  secrets?: Record<string, string>;
  headers?: Record<string, string>;
  location?: string;
  /** The answer is this refusal; the rest of the change is committed anyway, because it must be recorded. */
  refusal?: Refusal;
}

/** The audit rows and the outbox events of a change: derived, never written by hand. */
export function recordsOf(ctx: Context, action: string, change: Decision): Write[] {
  const now = ctx.now();
  const at = now.toISOString();
  const actor = change.actor ?? ctx.actor;
  const place = change.place ?? { org_id: ctx.project?.org_id ?? ctx.org?.id, project_id: ctx.project?.id };
  const about = { actor: nameActor(actor), correlation_id: ctx.correlationId };
  const email = actor.kind === 'user' ? actor.email : undefined;
  const audits = [change, ...(change.also ?? [])].map(({ subject, before, after }) =>
    insertAudit({
      id: ctx.newId(),
      at,
      ...about,
      ...(email && { actor_email: email }),
      action,
      subject,
      before,
      after,
      reason: change.reason,
      source_ip: ctx.sourceIp,
      ...place,
    }),
  );
  const events = (change.events ?? []).map((event) => ({
    ...event,
    event_id: ctx.newId(),
    occurred_at: at,
    ...about,
    traceparent: ctx.traceparent,
    ...(event.place ?? place),
  }));
  return [...audits, ...insertSaid(events, now)];
}

/**
 * What a step or a reaction decides, committed whole with its audit and events. It decides nothing where the work
 * was done before: then nothing is written.
 */
export async function commitDecision(
  ctx: Context,
  action: string,
  decide: () => Promise<Decision | undefined>,
): Promise<void> {
  await decidingAgain(async () => {
    const decision = await decide();
    if (decision) await commit([...decision.writes, ...recordsOf(ctx, action, decision)]);
  }, refuse('unavailable'));
}

/** Somebody may change the same thing at the same moment; deciding again, on what is there then, may succeed. */
export async function decidingAgain<T>(once: () => Promise<T>, givenUp: Refusal): Promise<T> {
  const isConflict = (error: unknown): boolean => error instanceof Conflict;
  try {
    return await retrying(once, isConflict);
  } catch (error) {
    throw isConflict(error) ? givenUp : error;
  }
}
