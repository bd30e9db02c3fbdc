import * as v from 'valibot';
import { ProjectId } from '../platform/ids.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { AppSlug } from '../platform/name.ts';
import { PageQuery } from '../platform/page.ts';
import { ArtifactPage, Channel, LIFECYCLE_STATES, TRUST_STATES, viewArtifact } from './artifact.ts';
import { listArtifactsOf } from './artifact-list-store.ts';
import { refuse } from './problems.ts';

export const listArtifacts = query(
  {
    summary: 'List the artifacts of a project, by app and version',
    params: v.object({ project_id: ProjectId }),
    query: v.strictObject({
      ...PageQuery,
      app_slug: v.optional(AppSlug),
      app_version: v.optional(VersionNumber),
      channel: v.optional(Channel),
      lifecycle_state: v.optional(v.picklist(LIFECYCLE_STATES)),
      trust_state: v.optional(v.picklist(TRUST_STATES)),
    }),
    reply: ArtifactPage,
  },
  async (ctx, { query: { limit, cursor, app_slug, app_version, ...states } }) => {
    if (app_version !== undefined && app_slug === undefined)
      throw refuse('request.invalid', {
        faults: [{ pointer: '?/app_slug', detail: 'Expected app_slug together with app_version.' }],
      });
    const { items, next_cursor } = await listArtifactsOf(
      projectOf(ctx).id,
      { app_slug, app_version, ...states },
      { limit, cursor },
    );
    return { items: items.map(viewArtifact), next_cursor };
  },
);
