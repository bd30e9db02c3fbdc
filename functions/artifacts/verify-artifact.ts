import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams, ArtifactView, viewArtifact } from './artifact.ts';
import { findArtifact } from './find-artifact.ts';
import { judged, requireNotRevoked, untrusted } from './artifact-trust.ts';
import { findBound } from './find-bound-version.ts';
import { decideVerification } from './decide-verification.ts';
import { examineArtifact } from './examine-artifact.ts';
import { readTrust } from './read-trust.ts';
import { refuse } from './problems.ts';

export const verifyArtifact = command(
  {
    summary: 'Verify the signature and the provenance of an artifact',
    action: 'artifacts.artifact.verify',
    params: ArtifactParams,
    reply: ArtifactView,
    refusals: [
      'artifact.unknown',
      'artifact.wrong_state',
      'artifact.revoked',
      'artifact.untrusted',
      'registry.unavailable',
      'store.unavailable',
    ],
  },
  async (ctx, { params }) => {
    const artifact = await findArtifact(projectOf(ctx).id, params.artifact_id);
    requireNotRevoked(artifact);
    if (artifact.lifecycle_state === 'retired')
      throw refuse('artifact.wrong_state', { detail: 'The artifact is retired and can no longer be used.' });
    const verification = await examineArtifact(artifact, await readTrust(), ctx.now());
    const bound = await findBound(artifact);
    const now = ctx.now();
    const after = judged(artifact, verification, now);
    return {
      ...decideVerification(artifact, bound, verification, now),
      reply: { ...viewArtifact(after) },
      // The verdict is stored even if it is a refusal: it blocks launches of an artifact that was trusted before.
      ...(after.trust_state !== 'verified' && { refusal: untrusted(verification.fault) }),
    };
  },
);
