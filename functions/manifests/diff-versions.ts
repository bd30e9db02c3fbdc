import { decideByGrants } from '../platform/auth/caller.ts';
import { query } from '../platform/http/endpoint.ts';
import type { Manifest } from './manifest.ts';
import { diffManifests, ManifestDiff } from './manifest-diff.ts';
import { requireVisible, TwoVersionsParams } from '../catalog/version.ts';
import { findTwoVersions } from '../catalog/find-version.ts';

export const diffVersions = query(
  {
    summary: 'List the changes between two versions of an app, and which of them are breaking',
    params: TwoVersionsParams,
    reply: ManifestDiff,
    refusals: ['app.unknown', 'version.unknown'],
  },
  async (ctx, { params: { app_slug, version, other_version } }) => {
    const { app, one, other } = await findTwoVersions(app_slug, version, other_version);
    const [before, after] = await decideByGrants(ctx, (grants) => [
      requireVisible(grants, app, one),
      requireVisible(grants, app, other),
    ]);
    return diffManifests(before.manifest as Manifest, after.manifest as Manifest);
  },
);
