import { decideMove, findAnyRelease } from './keep-release.ts';
import { subjectOfPromotion } from './version-promotion.ts';
import { InstanceFailed, type InstanceRunning } from '../instances/instance-events.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { EventOf } from '../platform/events.ts';
import type { AppSlug } from '../platform/name.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { countInstance } from '../promotion/keep-promotion.ts';
import { rollBack } from '../promotion/promotion-steps.ts';
import { describeTally, isFailing, isTried } from '../promotion/promotion.ts';

/** What an instance that came up or failed means for the version it uses, while that is in canary. */
export async function observeInstance(
  ctx: Context,
  event: EventOf<typeof InstanceRunning | typeof InstanceFailed>,
): Promise<void> {
  const { app_instance_id: id, app_slug, app_version: version } = event.data;
  const list = event.type === InstanceFailed.type ? 'failed_ids' : 'running_ids';
  const isCounted = await countInstance(subjectOfPromotion(app_slug, version), {
    id,
    list,
    at: event.occurred_at,
  });
  if (isCounted) await judgeCanary(ctx, { app_slug, version });
}

const GUARD = { kind: 'platform', id: 'canary-guard' } as const;

/** Takes a canary back to staged when too many of its instances fail, whether or not its promotion still runs. */
export async function judgeCanary(
  ctx: Context,
  named: { app_slug: AppSlug; version: VersionNumber },
): Promise<void> {
  await commitDecision(ctx, 'catalog.version.roll_back', async () => {
    const { app, version, promotion, instance_count } = await findAnyRelease(named);
    if (!app || version?.status !== 'canary' || !isTried(promotion?.canary)) return undefined;
    if (!isFailing(promotion.canary, promotion)) return undefined;
    const reason = `Too many instances failed: ${describeTally(promotion.canary, promotion)}.`;
    const error = { code: 'canary.failing', detail: reason };
    const after = rollBack(promotion, ctx.now(), error);
    const release = { app, version, promotion, instance_count };
    const { decision } = decideMove(release, { to: 'staged' }, after, ctx.now(), { reason });
    return { ...decision, actor: GUARD, reason };
  });
}
