import { decideByGrants } from '../platform/auth/caller.ts';
import { query } from '../platform/http/endpoint.ts';
import { requireVisible, VersionInFullView, VersionParams, viewVersion } from './version.ts';
import { findVersionInFull } from './find-version.ts';

export const getVersion = query(
  {
    summary: 'Get a version of an app, with its manifest',
    params: VersionParams,
    reply: VersionInFullView,
    refusals: ['app.unknown', 'version.unknown'],
  },
  async (ctx, { params }) => {
    const { app, found } = await findVersionInFull(params.app_slug, params.version);
    const { version, manifest } = await decideByGrants(ctx, (grants) => requireVisible(grants, app, found));
    return { ...viewVersion(version), manifest };
  },
);
