import * as v from 'valibot';
import { commitDecision, type Decision } from '../platform/change.ts';
import { Conflict } from '../platform/commit.ts';
import type { Context } from '../platform/context.ts';
import { task } from '../platform/task.ts';
import { activeVersion, type VersionStatus } from './app.ts';
import { decideMove, type Standing } from './decide-move.ts';
import { findRelease } from './find-release.ts';
import { judgeCanary } from './judge-canary.ts';
import { type Promotion, PromotionStep, type Target } from './promotion.ts';
import { advance, delayOf, type Outcome, outcomeOf, requireGates } from './promotion-steps.ts';
import { findArtifacts, requireArtifacts } from './promotion-store.ts';
import { type Rank, requireReady } from './readiness.ts';
import type { Move } from './transition.ts';
import type { Version } from './version.ts';

const ACTIONS = {
  staged: 'catalog.version.stage',
  canary: 'catalog.version.begin_canary',
  active: 'catalog.version.activate',
  retired: 'catalog.version.end_retirement',
} as const satisfies Record<Target, string>;

const FROM = {
  staged: 'draft',
  canary: 'staged',
  active: 'canary',
  retired: 'deprecated',
} as const satisfies Record<Target, VersionStatus>;

const AdvanceVersion = v.object({
  ...PromotionStep.entries,
  to: v.picklist(Object.keys(ACTIONS) as Target[]),
});
type AdvanceVersion = v.InferOutput<typeof AdvanceVersion>;

/** One transition of a version, made once however often it is asked for; and what the workflow is to do next. */
export const handler = task(AdvanceVersion, async (ctx, step): Promise<Outcome> => {
  if (step.to === 'active') await judgeCanary(ctx, step.app_slug, step.version);
  let outcome: Outcome | undefined;
  await commitDecision(ctx, ACTIONS[step.to], async () => {
    const decided = await decide(ctx, step);
    outcome = decided.outcome;
    return decided.decision;
  });
  if (!outcome) throw new Error('The step has decided nothing.');
  return outcome;
});

async function decide(
  ctx: Context,
  step: AdvanceVersion,
): Promise<{ outcome: Outcome; decision?: Decision }> {
  const { to, operation_id } = step;
  const now = ctx.now();
  const standing = await findRelease(step);
  const { version, promotion } = standing;
  const before =
    outcomeOf(promotion, operation_id, to) ?? (promotion && delayOf(promotion, version, to, now));
  if (before || !promotion) return { outcome: before ?? { decision: 'over', until: now.toISOString() } };
  // The rows were not read at one moment.
  if (version.status !== FROM[to]) throw new Conflict('The version is not where its promotion says.');
  requireGates(promotion, to);
  const after = advance(promotion, to, now);
  const decision = await decideTransition({ ...standing, promotion }, after, to, now);
  const outcome = outcomeOf(after, operation_id, to);
  if (!outcome) throw new Error(`A promotion that has come to ${to} cannot be at “${after.step}”.`);
  return { outcome, decision };
}

async function decideTransition(
  standing: Standing & { promotion: Promotion },
  after: Promotion,
  to: Target,
  now: Date,
): Promise<Decision> {
  const { app, version, promotion } = standing;
  const { actor, reason } = promotion;
  if (to === 'retired') return { ...decideMove(standing, { to }, after, now).decision, actor, reason };
  const active = to === 'active' ? activeVersion(app) : undefined;
  const { found, other } = await findArtifacts(version, active);
  if (active !== undefined && other?.status !== 'active')
    throw new Conflict('Another version is active than the app said.');
  requireReady(version, found, to);
  const { decision } = decideMove(standing, moveTo(to, after, other), after, now);
  return { ...decision, actor, reason, writes: [...decision.writes, ...requireArtifacts(version, to)] };
}

function moveTo(to: Rank, { canary }: Promotion, supersedes: Version | undefined): Move {
  if (to === 'staged') return { to };
  if (to === 'active') return { to, supersedes };
  return { to, audience: { percent: canary?.percent ?? 0, project_ids: canary?.project_ids ?? [] } };
}
