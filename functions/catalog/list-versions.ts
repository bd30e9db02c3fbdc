import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { STATUSES } from '../promotion/status.ts';
import { AppParams, isPublisher, isVisible } from './app.ts';
import { VersionPage, viewVersion } from './version.ts';
import { listVersionsOf } from './version-store.ts';
import { refuse } from './problems.ts';

const ANY_STATUS = STATUSES.join('|');

/** A repeated parameter arrives with commas too. */
const Statuses = v.pipe(
  v.string(),
  v.maxLength(100),
  v.regex(
    new RegExp(`^(?:${ANY_STATUS})(?:,(?:${ANY_STATUS}))*$`),
    `One or several of ${STATUSES.join(', ')}, separated by commas`,
  ),
  v.transform((text) => text.split(',')),
  v.description('Only versions with one of these statuses, separated by commas.'),
);

export const listVersions = query(
  {
    summary: 'List the versions of an app, newest first',
    params: AppParams,
    query: v.strictObject({ ...PageQuery, status: v.optional(Statuses) }),
    reply: VersionPage,
    refusals: ['app.unknown'],
  },
  async (ctx, { params, query: { status, ...page } }) => {
    const { items, next_cursor, isAnyVisible } = await listVersionsOf(
      params.app_slug,
      {
        isVisible: (version) => isVisible(version, isPublisher(ctx.grants, version)),
        isWanted: (version) => status?.includes(version.status) ?? true,
      },
      page,
    );
    // Every app has a version: if the caller can see none, the app is unknown to them.
    if (!isAnyVisible && page.cursor === undefined) throw refuse('app.unknown');
    return { items: items.map(viewVersion), next_cursor };
  },
);
