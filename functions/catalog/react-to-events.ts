import { InstanceFailed, InstanceRunning } from '../instances/instance-events.ts';
import type { AppSlug } from '../platform/name.ts';
import type { OperationId } from '../platform/ids.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { on, reactions } from '../platform/workflow/reactions.ts';
import { answerPromotion, startPromotion } from '../promotion/drive-workflow.ts';
import { observeInstance } from './judge-canary.ts';
import { versionKind } from './version-kind.ts';
import { SmokeAnswered, subjectOfPromotion, VersionPromotionRequested } from './version-promotion.ts';

const askedIn = ({
  data,
}: {
  data: { app_slug: AppSlug; app_version: VersionNumber; operation_id: OperationId };
}) => ({
  subject: subjectOfPromotion(data.app_slug, data.app_version),
  operation_id: data.operation_id,
});

export const handler = reactions(
  on(VersionPromotionRequested, (ctx, event) => startPromotion(ctx, versionKind, askedIn(event))),
  on(SmokeAnswered, (_ctx, event) => answerPromotion(versionKind, askedIn(event))),
  on(InstanceRunning, observeInstance),
  on(InstanceFailed, observeInstance),
);
