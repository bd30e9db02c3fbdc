import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { queryAll } from '../platform/data/rows.ts';
import { putItem, readItem, updateItem } from '../platform/data/table.ts';
import type { SelftestId } from '../platform/ids.ts';
import { OPEN_SELFTESTS, runKey, taskTokenKey } from './keys.ts';
import { type Hop, PRECEDING, Selftest, type SelftestVerdict } from './selftest.ts';

const KEPT_SECONDS = 7 * 24 * 3600;
const TOKEN_KEPT_SECONDS = 24 * 3600;

export function insertSelftest(run: Selftest): Write {
  return putNew({
    ...runKey(run.id),
    ...run,
    gsi1pk: OPEN_SELFTESTS,
    gsi1sk: run.deadline_at,
    expires_at: epochSeconds(secondsAfter(new Date(run.created_at), KEPT_SECONDS)),
  });
}

export async function findSelftest(id: SelftestId): Promise<Selftest | undefined> {
  const item = await readItem(runKey(id));
  return item && v.parse(Selftest, item);
}

/** The first time written for a hop stays; a repeat changes nothing. */
export async function recordHop(id: SelftestId, hop: Hop, at: Date): Promise<void> {
  await updateItem(runKey(id), {
    update: 'SET hops.#hop = :at',
    condition: 'attribute_exists(pk) AND attribute_not_exists(hops.#hop)',
    names: { '#hop': hop },
    values: { ':at': at.toISOString() },
  });
}

/** The hop “streamed” may not be recorded yet by the function that started the run. */
export async function beginSelftest(id: SelftestId, at: Date): Promise<void> {
  await updateItem(runKey(id), {
    update: 'SET #status = :running, hops.started = :at, hops.streamed = if_not_exists(hops.streamed, :at)',
    condition: `#status IN (${statuses('running')})`,
    names: { '#status': 'status' },
    values: { ':running': 'running', ...statusValues('running'), ':at': at.toISOString() },
  });
}

/** Ends the run; one that has ended keeps its first verdict. */
export function saveVerdict(id: SelftestId, verdict: SelftestVerdict, at: Date): Write {
  const ending = verdict.status === 'passed' ? 'hops.finished = :at' : 'failure = :failure';
  return update(runKey(id), {
    update: `SET #status = :ended, ended_at = :at, ${ending} REMOVE gsi1pk, gsi1sk`,
    condition: `#status IN (${statuses(verdict.status)})`,
    names: { '#status': 'status' },
    values: {
      ':ended': verdict.status,
      ':at': at.toISOString(),
      ...statusValues(verdict.status),
      ...(verdict.status === 'failed' && { ':failure': verdict.failure }),
    },
  });
}

/** Whether this call is the one that rescues the run. */
export async function markRescued(id: SelftestId, at: Date): Promise<boolean> {
  return updateItem(runKey(id), {
    update: 'SET rescued_at = :at',
    condition: `#status IN (${statuses('running')}) AND attribute_not_exists(rescued_at)`,
    names: { '#status': 'status' },
    values: { ...statusValues('running'), ':at': at.toISOString() },
  });
}

/** The token of the workflow's waiting step. It stays in the table: whoever answers names the run. */
export async function saveTaskToken(id: SelftestId, taskToken: string, now: Date): Promise<void> {
  const expires_at = epochSeconds(secondsAfter(now, TOKEN_KEPT_SECONDS));
  await putItem({ ...taskTokenKey(id), task_token: taskToken, expires_at });
}

export async function findTaskToken(id: SelftestId): Promise<string | undefined> {
  const item = await readItem(taskTokenKey(id));
  return item && v.parse(v.object({ task_token: v.string() }), item).task_token;
}

const OVERDUE_MAX = 100;

/** Open runs past their deadline, oldest first; what one sweep leaves over, the next takes. */
export async function overdueSelftests(now: Date): Promise<Selftest[]> {
  const { items } = await queryAll({
    index: 'gsi1',
    condition: 'gsi1pk = :open AND gsi1sk < :now',
    values: { ':open': OPEN_SELFTESTS, ':now': now.toISOString() },
    max: OVERDUE_MAX,
  });
  return items.map((item) => v.parse(Selftest, item));
}

function statuses(next: keyof typeof PRECEDING): string {
  return PRECEDING[next].map((status) => `:${status}_before`).join(', ');
}

function statusValues(next: keyof typeof PRECEDING): Record<string, string> {
  return Object.fromEntries(PRECEDING[next].map((status) => [`:${status}_before`, status]));
}
