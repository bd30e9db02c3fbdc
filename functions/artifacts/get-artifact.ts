import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ArtifactParams, ArtifactView, viewArtifact } from './artifact.ts';
import { findArtifact } from './find-artifact.ts';

export const getArtifact = query(
  {
    summary: 'An artifact: what it is, how far it has come, whether it is trusted',
    params: ArtifactParams,
    reply: ArtifactView,
    refusals: ['artifact.unknown'],
  },
  async (ctx, { params }) => viewArtifact(await findArtifact(projectOf(ctx).id, params.artifact_id)),
);
