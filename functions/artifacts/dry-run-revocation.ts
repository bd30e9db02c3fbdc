import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ArtifactParams } from './artifact.ts';
import { findArtifact } from './find-artifact.ts';
import { RevokeArtifact } from './revocation.ts';
import { RevocationPreview, runs, shownTo, versionsUsing, viewUses } from './usage.ts';
import { findNamesakes, findUses } from './usage-store.ts';

export const dryRunRevocation = query(
  {
    summary: 'List the versions and instances that revoking an artifact would affect',
    params: ArtifactParams,
    body: RevokeArtifact,
    reply: RevocationPreview,
    refusals: ['artifact.unknown'],
  },
  async (ctx, { params }) => {
    const project = projectOf(ctx);
    const artifact = await findArtifact(project.id, params.artifact_id);
    const { holders, instances, isTruncated } = await findUses(artifact.digest);
    const own = holders.find(({ project_id }) => project_id === project.id);
    const { artifacts, versions } = await findNamesakes(artifact, own?.artifact_ids ?? []);
    const touched = instances.filter((instance) => artifacts.some((each) => runs(instance, each)));
    return {
      artifact_ids: artifacts.map(({ id }) => id),
      digest: artifact.digest,
      versions: versionsUsing(artifacts, versions),
      ...viewUses(
        { holders: own ? [own] : [], instances: touched, isTruncated },
        shownTo(ctx.grants, project.id),
      ),
    };
  },
);
