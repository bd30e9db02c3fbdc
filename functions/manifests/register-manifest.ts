import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased, ProjectId } from '../platform/ids.ts';
import { placeOfApp } from '../catalog/app.ts';
import { digestManifest } from './digest-manifest.ts';
import { auditRegistration, planRegistration, VersionRegistered } from './registration.ts';
import { findRegistered, saveRegistration } from './registration-store.ts';
import { MANIFEST_TEXT, requireManifest, SentManifest } from './sent-manifest.ts';
import { pathOfVersion, VersionView, viewVersion } from '../catalog/version.ts';
import { refuse } from './problems.ts';

export const registerManifest = command(
  {
    summary: 'Register a version of an app by its manifest',
    action: 'manifests.manifest.register',
    query: v.strictObject({
      project_id: v.optional(
        v.pipe(ProjectId, v.description('The project that owns a new app; the platform if omitted')),
      ),
    }),
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: VersionView,
    status: 201,
    refusals: [
      'manifest.malformed',
      'manifest.invalid',
      'project.unknown',
      'project.archived',
      'app.slug_taken',
      'app.backend_fixed',
      'app.too_many',
      'app.too_many_versions',
      'version.exists',
      'promotion.in_progress',
    ],
  },
  async (ctx, { query, body }) => {
    const manifest = requireManifest(body);
    const projectId = query.project_id && lowerCased(query.project_id);
    const { project, ...registered } = await findRegistered(manifest, projectId);
    if (projectId !== undefined && !project) throw refuse('project.unknown');
    if (project?.status === 'archived') throw refuse('project.archived');
    const owner = project && { org_id: project.org_id, project_id: project.id };
    const by = { owner, actor: nameActor(ctx.actor) };
    const { app, version } = planRegistration(manifest, digestManifest(manifest), registered, by, ctx.now());
    return {
      ...auditRegistration(registered.version, version),
      place: placeOfApp(app),
      writes: saveRegistration(registered, { app, version }, manifest),
      events: [VersionRegistered(version)],
      reply: viewVersion(version),
      location: pathOfVersion(version),
    };
  },
);
