import * as v from 'valibot';
import { Reason } from '../promotion/promotion.ts';
import { rollBack } from '../promotion/promotion-steps.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams, ArtifactView, viewArtifact } from './artifact.ts';
import { findArtifactPromotionOf } from './find-artifact.ts';
import { findBound } from './find-bound-version.ts';
import { decideArtifactMove } from './decide-artifact-move.ts';
import { refuse } from './problems.ts';

export const rollBackArtifact = command(
  {
    summary: 'Roll an artifact in canary back to staged, immediately',
    action: 'artifacts.artifact.roll_back',
    params: ArtifactParams,
    body: v.strictObject({ reason: Reason }),
    reply: ArtifactView,
    refusals: ['artifact.unknown', 'artifact.wrong_state', 'artifact.in_use'],
  },
  async (ctx, { params, body: { reason } }) => {
    const found = await findArtifactPromotionOf(projectOf(ctx).id, params.artifact_id);
    const { artifact, promotion } = found;
    // A move from draft to staged is valid too, but it is not a rollback.
    if (artifact.lifecycle_state !== 'canary') {
      throw refuse('artifact.wrong_state', {
        detail: `The artifact is ${artifact.lifecycle_state}; only an artifact in canary can be rolled back.`,
      });
    }
    const standing = { ...found, bound: await findBound(artifact) };
    const ended = promotion && rollBack(promotion, ctx.now());
    const { moved, decision } = decideArtifactMove(standing, { to: 'staged' }, ended, ctx.now(), { reason });
    return { ...decision, reason, reply: { ...viewArtifact(moved) } };
  },
);
