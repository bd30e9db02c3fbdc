import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ArtifactParams, ArtifactView, viewArtifact } from './artifact.ts';
import { findArtifact } from './find-artifact.ts';

export const getArtifact = query(
  {
    summary: 'Get an artifact, with its lifecycle state and trust state',
    params: ArtifactParams,
    reply: ArtifactView,
    refusals: ['artifact.unknown'],
  },
  async (ctx, { params }) => viewArtifact(await findArtifact(projectOf(ctx).id, params.artifact_id)),
);
