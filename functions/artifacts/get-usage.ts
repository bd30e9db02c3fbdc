import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ArtifactParams } from './artifact.ts';
import { findArtifact } from './find-artifact.ts';
import { shownTo, stoppingOf, UsageView, versionsUsing, viewUses } from './usage.ts';
import { findNamesakes, findUses } from './usage-store.ts';

export const getUsage = query(
  {
    summary: 'List the versions, projects and instances that use the content of an artifact',
    params: ArtifactParams,
    reply: UsageView,
    refusals: ['artifact.unknown'],
  },
  async (ctx, { params }) => {
    const project = projectOf(ctx);
    const artifact = await findArtifact(project.id, params.artifact_id);
    const uses = await findUses(artifact.digest);
    const isShown = shownTo(ctx.grants, project.id);
    const ids = uses.holders.filter(({ project_id }) => isShown(project_id));
    const { artifacts, versions, isCut } = await findNamesakes(
      artifact,
      ids.flatMap(({ artifact_ids }) => artifact_ids),
    );
    return {
      artifact_id: artifact.id,
      digest: artifact.digest,
      versions: versionsUsing(artifacts, versions),
      ...viewUses({ ...uses, isTruncated: uses.isTruncated || isCut }, isShown),
      stopping: stoppingOf(uses, artifact),
    };
  },
);
