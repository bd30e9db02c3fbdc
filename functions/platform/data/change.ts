import { type Actor, nameActor } from '../actor.ts';
import { insertAudit } from './audit.ts';
import { commit, Conflict, type Write } from './commit.ts';
import type { Context } from '../context.ts';
import { type Refusal, refuse } from '../errors.ts';
import type { DomainEvent } from '../events.ts';
import type { OrgId, ProjectId } from '../ids.ts';
import { insertOutbox } from './outbox.ts';

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
  /** What changed along with it, each with a row of its own: the version another one takes the place of. */
  also?: Audited[];
  /** Who it was done by, where that is not who called: a request that proves who they are, or late work. */
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
  /** The answer is this no; what else the change says is written down all the same, as somebody must hear of it. */
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
  const events = (change.events ?? []).map((event) =>
    insertOutbox(
      {
        ...event,
        event_id: ctx.newId(),
        occurred_at: at,
        ...about,
        traceparent: ctx.traceparent,
        ...(event.place ?? place),
      },
      now,
    ),
  );
  return [...audits, ...events];
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

/** A row that many write at once is free again in less; a caller still waits for the answer. */
const RETRIED_MS_MAX = 4_000;
const PAUSE_MS_FIRST = 20;
const PAUSE_MS_MAX = 500;

/** Somebody may change the same thing at the same moment; deciding again, on what is there then, may succeed. */
export async function decidingAgain<T>(once: () => Promise<T>, givenUp: Refusal): Promise<T> {
  const endsMs = performance.now() + RETRIED_MS_MAX;
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      const pauseMs = Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** attempts);
      if (performance.now() + pauseMs > endsMs) throw givenUp;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
