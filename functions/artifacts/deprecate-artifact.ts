import * as v from 'valibot';
import { Reason } from '../promotion/promotion.ts';
import { GraceSeconds } from '../promotion/status.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams, ArtifactView, viewArtifact } from './artifact.ts';
import { findArtifactPromotionAndPolicy } from './find-artifact.ts';
import { findBound } from './find-bound-version.ts';
import { decideArtifactMove } from './decide-artifact-move.ts';

export const deprecateArtifact = command(
  {
    summary: 'Deprecate an artifact: no further version can use it',
    action: 'artifacts.artifact.deprecate',
    params: ArtifactParams,
    body: v.strictObject({ reason: Reason, grace_seconds: v.optional(GraceSeconds) }),
    reply: ArtifactView,
    refusals: ['artifact.unknown', 'artifact.wrong_state', 'artifact.in_use'],
  },
  async (ctx, { params, body: { reason, grace_seconds } }) => {
    const { found, policy } = await findArtifactPromotionAndPolicy(projectOf(ctx).id, params.artifact_id);
    const standing = { artifact: found.artifact, bound: await findBound(found.artifact) };
    const move = { to: 'deprecated', graceSeconds: grace_seconds ?? policy.grace_seconds } as const;
    const { moved, decision } = decideArtifactMove(standing, move, undefined, ctx.now(), { reason });
    return { ...decision, reason, reply: { ...viewArtifact(moved) } };
  },
);
