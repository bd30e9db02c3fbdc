import * as v from 'valibot';
import { VersionNumber } from '../platform/version-number.ts';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { Id, Slug } from '../platform/name.ts';
import { PageQuery } from '../platform/page.ts';
import { ArtifactPage, Channel, LIFECYCLE_STATES, TRUST_STATES, viewArtifact } from './artifact.ts';
import { listArtifactsOf } from './artifact-list-store.ts';
import { refuse } from './problems.ts';

export const listArtifacts = query(
  {
    summary: 'The artifacts of a project, by app and version',
    params: v.object({ project_id: Id }),
    query: v.strictObject({
      ...PageQuery,
      app_slug: v.optional(Slug),
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
        faults: [{ pointer: '?/app_slug', detail: 'Expected the app whose version is asked for.' }],
      });
    const { items, next_cursor } = await listArtifactsOf(
      projectOf(ctx).id,
      { app_slug, app_version, ...states },
      { limit, cursor },
    );
    return { items: items.map(viewArtifact), next_cursor };
  },
);
