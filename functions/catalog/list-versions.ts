import * as v from 'valibot';
import { callerNow } from '../platform/auth/caller.ts';
import type { Context } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import type { Grant } from '../platform/permissions.ts';
import { PageQuery } from '../platform/page.ts';
import { STATUSES } from '../promotion/status.ts';
import { AppParams, isPublisher, isVisible } from './app.ts';
import { type Version, VersionPage, viewVersion } from './version.ts';
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
        visibleOf: (versions) => visibleTo(ctx, versions),
        isWanted: (version) => status?.includes(version.status) ?? true,
      },
      page,
    );
    // Every app has a version: if the caller can see none, the app is unknown to them.
    if (!isAnyVisible && page.cursor === undefined) throw refuse('app.unknown');
    return { items: items.map(viewVersion), next_cursor };
  },
);

/** What the caller may not see is hidden by what they may do now. */
async function visibleTo(ctx: Context, versions: Version[]): Promise<Version[]> {
  const visible = visibleBy(ctx.grants, versions);
  if (visible.length === versions.length) return visible;
  return visibleBy((await callerNow(ctx, [])).grants, versions);
}

const visibleBy = (grants: Grant[], versions: Version[]): Version[] =>
  versions.filter((version) => isVisible(version, isPublisher(grants, version)));
