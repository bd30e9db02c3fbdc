import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { ArtifactView, pathOfArtifact, subjectOfArtifact, viewArtifact } from './artifact.ts';
import { insertArtifact } from './save-artifact.ts';
import { findFile } from '../content/find-file.ts';
import { findImage } from '../content/find-image.ts';
import { requirePublisher } from './publication.ts';
import {
  ArtifactRegistered,
  nameArtifact,
  type NamedArtifact,
  planArtifact,
  RegisterArtifact,
} from './registration.ts';
import { findPublication } from './registration-store.ts';
import { imageUri } from '../storage/repository.ts';
import { refuse } from './problems.ts';

export const registerArtifact = command(
  {
    summary: 'Register a pushed image or an uploaded file by its digest',
    action: 'artifacts.artifact.register',
    params: v.object({ project_id: ProjectId }),
    body: RegisterArtifact,
    reply: ArtifactView,
    status: 201,
    refusals: [
      'project.archived',
      'app.slug_taken',
      'artifact.exists',
      'artifact.foreign_source',
      'artifact.absent',
      'artifact.mismatched',
      'artifact.unfit',
      'artifact.collected',
      'artifact.too_many',
      'artifact.revoked',
      'registry.unavailable',
      'store.unavailable',
    ],
  },
  async (ctx, { body }) => {
    const project = projectOf(ctx);
    const named = nameArtifact(body, project);
    const { app, isRegistered } = await findPublication(named);
    requirePublisher(project, app);
    // The write checks this again; checking now saves a request to the registry.
    if (isRegistered)
      throw refuse('artifact.exists', { detail: `The artifact is registered as ${named.id}.` });
    const found =
      named.source_type === 'oci_registry'
        ? await findPushed(named, body)
        : await findFile({ ...named, source_uri: body.source_uri }, ctx.now());
    const artifact = planArtifact(named, found, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfArtifact(artifact),
      after: viewArtifact(artifact),
      writes: insertArtifact(artifact),
      events: [ArtifactRegistered(artifact)],
      reply: viewArtifact(artifact),
      location: pathOfArtifact(artifact),
    };
  },
);

async function findPushed(named: NamedArtifact, { source_uri, media_type }: RegisterArtifact) {
  const uri = imageUri(named.repository, named.digest);
  if (source_uri !== undefined && source_uri !== uri)
    throw refuse('artifact.foreign_source', { detail: `The source_uri of this image is ${uri}.` });
  return findImage(named, media_type);
}
