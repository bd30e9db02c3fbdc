import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams, viewArtifact } from './artifact.ts';
import { findArtifact } from './find-artifact.ts';
import { saveTrust } from './find-bound-version.ts';
import { ArtifactRevoked, auditRevocation, RevocationView, revoke, RevokeArtifact } from './revocation.ts';
import { findSame, saveRevocation } from './revocation-store.ts';
import { countRevocation } from './trust-store.ts';

export const revokeArtifact = command(
  {
    summary: 'Revoke an artifact permanently; optionally stop the instances that run it',
    action: 'artifacts.artifact.revoke',
    params: ArtifactParams,
    body: RevokeArtifact,
    reply: RevocationView,
    refusals: ['artifact.unknown'],
  },
  async (ctx, { params, body: { reason, stop_instances } }) => {
    const artifact = await findArtifact(projectOf(ctx).id, params.artifact_id);
    const same = await findSame(artifact);
    const now = ctx.now();
    const isNews = artifact.trust_state !== 'revoked';
    const judged = same.map(({ artifact: before, bound }) => ({
      before,
      bound,
      artifact: isNews ? revoke(before, nameActor(ctx.actor), reason, now) : before,
    }));
    const revoked = judged.map(({ artifact: after }) => after);
    const [told, ...also] = judged.map(({ before, artifact: after }) => auditRevocation(before, after));
    if (!told) throw new Error('The artifacts with the same content must include the artifact itself.');
    return {
      ...told,
      also: isNews ? also : [],
      reason,
      // Hosts must not start it by what they remember.
      writes: isNews ? [...saveRevocation(revoked), ...saveTrust(judged, now), countRevocation()] : [],
      // A revocation without stopping may be repeated to stop the instances.
      events: isNews || stop_instances ? revoked.map((each) => ArtifactRevoked(each, stop_instances)) : [],
      reply: {
        ...viewArtifact(revoked[0] ?? artifact),
        revoked_with: revoked.slice(1).map(({ id }) => id),
      },
    };
  },
);
