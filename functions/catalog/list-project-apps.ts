import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { AppFilterQuery, matcherOf } from './app-filter.ts';
import { readCatalogSays } from './entitlement-store.ts';
import { ProjectAppPage, viewProjectApp } from './launchability.ts';
import { pageBySlug } from './slug-page.ts';

const YesOrNo = v.pipe(
  v.picklist(['true', 'false']),
  v.transform((text) => text === 'true'),
);

export const listProjectApps = query(
  {
    summary: 'List the apps a project can launch, and why it cannot launch the others',
    params: v.object({ project_id: ProjectId }),
    query: v.strictObject({
      ...PageQuery,
      ...AppFilterQuery,
      launchable: v.optional(YesOrNo),
      entitled: v.optional(YesOrNo),
    }),
    reply: ProjectAppPage,
  },
  async (ctx, { query: { launchable, entitled, ...asked } }) => {
    const project = projectOf(ctx);
    const { catalog, org, own } = await readCatalogSays({ org_id: project.org_id, project_id: project.id });
    const isWanted = matcherOf(asked);
    return pageBySlug(
      catalog.values(),
      ({ app }) => app.slug,
      asked,
      ({ app, searchText }) =>
        isWanted(app, searchText)
          ? viewProjectApp(
              app,
              project,
              { org: org.get(app.slug), own: own.get(app.slug) },
              { launchable, entitled },
            )
          : undefined,
    );
  },
);
