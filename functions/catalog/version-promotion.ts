// What a promotion of a version is asked for with, how it is shown, and which events tell of it.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { textOf } from '../platform/ids.ts';
import { AppSlug } from '../platform/name.ts';
import { VersionNumber, versionSortKey } from '../platform/version-number.ts';
import { CanaryView, PromotionView } from '../promotion/promotion-view.ts';
import {
  AskedAudience,
  BakeSeconds,
  dataOf,
  Failure,
  InstancesMin,
  MaybeReason,
  Notes,
  Percent,
  PROMOTED_TO,
  type Promotion,
  PromotionData,
  Reason,
  Smoke,
  Verdict,
} from '../promotion/promotion.ts';
import { STATUSES } from '../promotion/status.ts';

export const VersionSubject = v.object({
  kind: v.literal('version'),
  id: v.string(),
  app_slug: textOf<AppSlug>(),
  version: textOf<VersionNumber>(),
});
export type VersionSubject = v.InferOutput<typeof VersionSubject>;

/** Two spellings of one version are one subject. */
export const subjectOfPromotion = (app_slug: AppSlug, version: VersionNumber): VersionSubject => ({
  kind: 'version',
  id: `${app_slug}#${versionSortKey(version)}`,
  app_slug,
  version,
});

const asked = {
  canary: v.optional(AskedAudience),
  bake_seconds: v.optional(BakeSeconds),
  failure_percent_max: v.optional(Percent),
  instances_min: v.optional(InstancesMin),
  reason: Reason,
};

export const PublishVersion = v.strictObject({ ...asked, reason: MaybeReason });
export const PromoteVersion = v.strictObject({ target: v.picklist(PROMOTED_TO), ...asked });

export const AnswerSmoke = v.strictObject({ verdict: Verdict, notes: v.optional(Notes) });
export type AnswerSmoke = v.InferOutput<typeof AnswerSmoke>;

/** What every command that begins a promotion of a version may refuse with. */
export const PROMOTION_REFUSALS = [
  'app.unknown',
  'version.unknown',
  'version.wrong_status',
  'promotion.in_progress',
] as const;

export const VersionPromotionView = v.object({
  ...PromotionView,
  app_slug: textOf<AppSlug>(),
  version: textOf<VersionNumber>(),
  version_status: v.picklist(STATUSES),
  /** Which smoke gate applies, if the promotion passes it. */
  smoke: v.optional(Smoke),
  canary: v.optional(CanaryView),
  /** The grace period of the version that it supersedes. */
  grace_seconds: v.optional(v.number()),
});

const Data = v.object({ ...PromotionData.entries, app_slug: AppSlug, app_version: VersionNumber });

export const namesOfVersion = ({ app_slug, version }: VersionSubject) => ({ app_slug, app_version: version });

const about = (promotion: Promotion) => ({
  ...dataOf(promotion),
  ...namesOfVersion(promotion.subject as VersionSubject),
});

export const VersionPromotionRequested = event('apps.version.promotion_requested', 1, Data, about);

export const SmokeRequested = event('apps.version.smoke_requested', 1, Data, about);

export const SmokeAnswered = event(
  'apps.version.smoke_answered',
  1,
  v.object({ ...Data.entries, verdict: Verdict }),
  (promotion: Promotion, { verdict }: AnswerSmoke) => ({ ...about(promotion), verdict }),
);

export const VersionPromotionFailed = event(
  'apps.version.promotion_failed',
  1,
  v.object({ ...Data.entries, error: Failure }),
  (promotion: Promotion, error: Failure) => ({ ...about(promotion), error }),
);
