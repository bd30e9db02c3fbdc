import type { Context } from '../platform/context.ts';
import { countMissed } from '../platform/metrics.ts';
import { secondsAfter } from '../platform/clock.ts';
import { OUTBOX_SHARDS } from '../platform/data/keys.ts';
import { sweeping } from '../platform/workflow/sweep.ts';
import { dispatch } from './dispatch-to-domains.ts';
import { relayOrSetAside } from './relay-or-set-aside.ts';
import { isUndispatched, isUnrelayed, type Swept, sweepBefore } from './outbox-sweep.ts';
import { findSwept, readShard, saveSwept } from './outbox-sweep-store.ts';

/** The next run continues where this one ends. */
const SHARD_SECONDS_MAX = 20;

/**
 * Relays and dispatches events that were missed, for whatever reason: records that expired in the stream, a consumer
 * that was disabled, a queue that was purged by mistake.
 */
export const handler = sweeping<string>({
  noun: 'outbox shard',
  find: async () => OUTBOX_SHARDS,
  mend: sweepShard,
  label: (shard) => ({ shard }),
  secondsMax: 80,
});

async function sweepShard(ctx: Context, shard: string): Promise<void> {
  const begun = await findSwept(shard);
  const before = sweepBefore(ctx.now());
  const endsAt = secondsAfter(ctx.now(), SHARD_SECONDS_MAX);
  let sweptTo = begun;
  try {
    while (ctx.now() < endsAt) {
      const rows = await readShard(shard, sweptTo, before);
      const last = rows.at(-1);
      if (!last || !(await finish(ctx, rows))) return;
      sweptTo = last.event_id;
    }
  } finally {
    if (sweptTo !== begun) await saveSwept(shard, sweptTo);
  }
}

/** Whether nothing is left to do about these rows. */
async function finish(ctx: Context, rows: Swept[]): Promise<boolean> {
  const untold = rows.filter(isUndispatched).flatMap(({ pointer }) => pointer ?? []);
  if (untold.length > 0) {
    ctx.log.warn('Events were never dispatched.', { event_ids: untold.map(({ event_id }) => event_id) });
    countMissed(ctx.log, untold.length);
    await dispatch(untold, ctx.now());
  }
  let isFinished = true;
  for (const [place, missed] of Map.groupBy(rows.filter(isUnrelayed), (row) => row.place)) {
    const eventIds = missed.map(({ event_id }) => event_id);
    ctx.log.warn('Events were never relayed.', { place, event_ids: eventIds });
    countMissed(ctx.log, eventIds.length);
    const { isOnBus } = await relayOrSetAside(ctx, place, eventIds);
    isFinished &&= isOnBus;
  }
  return isFinished;
}
