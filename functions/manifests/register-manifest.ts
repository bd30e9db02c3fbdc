import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased, ProjectId } from '../platform/ids.ts';
import { AppSlug } from '../platform/name.ts';
import { pathOfApp, placeOfApp } from '../catalog/app.ts';
import { auditRegistration, planRegistrations, requireOwner, VersionRegistered } from './registration.ts';
import { findOwnerSlug, findRegistered, saveRegistrations } from './registration-store.ts';
import { MANIFEST_TEXT, requirePackage, requirePlaced, SentManifest } from './sent-manifest.ts';
import { pathOfVersion, VersionView, viewVersion } from '../catalog/version.ts';

/** Where several versions were sent as a list. */
const VersionsView = v.object({ app_slug: AppSlug, versions: v.array(VersionView) });

export const registerManifest = command(
  {
    summary: 'Register a version of an app by its manifest, or several at once',
    action: 'manifests.manifest.register',
    query: v.strictObject({
      project_id: v.optional(
        v.pipe(ProjectId, v.description('The project that owns a new app; the platform if omitted')),
      ),
    }),
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: v.union([VersionView, VersionsView]),
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
    const sent = requirePackage(body);
    const drafts = sent.versions.map(({ manifest }) => manifest);
    const projectId = query.project_id && lowerCased(query.project_id);
    const { project, registered } = await findRegistered(drafts, projectId);
    requireOwner(projectId, project);
    const slug = await findOwnerSlug(drafts, registered[0]?.app, project);
    const manifests = requirePlaced(sent.versions, slug);
    const owner = project && { org_id: project.org_id, project_id: project.id };
    const by = { owner, actor: nameActor(ctx.actor) };
    const { app, versions } = planRegistrations(manifests, registered, by, ctx.now());
    const [first, ...others] = versions;
    return {
      ...auditRegistration(registered[0]?.version, first),
      also: others.map((version, index) => auditRegistration(registered[index + 1]?.version, version)),
      place: placeOfApp(app),
      writes: saveRegistrations(registered, { app, versions }, manifests),
      events: versions.map((version) => VersionRegistered(version)),
      ...(sent.isList
        ? { reply: { app_slug: app.slug, versions: versions.map(viewVersion) }, location: pathOfApp(app) }
        : { reply: viewVersion(first), location: pathOfVersion(first) }),
    };
  },
);
