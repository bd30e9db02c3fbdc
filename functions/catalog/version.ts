// A version of an app. Its status also stands in the app's row; both are only ever written together.

import * as v from 'valibot';
import { Slug } from '../platform/name.ts';
import { VERSION_STATUSES } from './app.ts';
import { VersionNumber } from './version-number.ts';

export const VersionParams = v.object({ app_slug: Slug, version: VersionNumber });

/** What the manifest expects to find registered; a digest binds it. */
export const ExpectedArtifact = v.object({
  name: v.string(),
  artifact_kind: v.string(),
  variant: v.optional(v.string()),
  repository: v.optional(v.string()),
  digest: v.optional(v.string()),
});
export type ExpectedArtifact = v.InferOutput<typeof ExpectedArtifact>;

export const Version = v.object({
  app_slug: v.string(),
  version: v.string(),
  status: v.picklist(VERSION_STATUSES),
  internal: v.boolean(),
  artifacts: v.array(ExpectedArtifact),
  release_notes: v.string(),
  /** Over the canonical manifest: two with the same digest say the same. */
  manifest_digest: v.string(),
  /** How many instances use it. Whatever runs counts itself here as it starts and ends. */
  instance_count: v.number(),
  registered_by: v.string(),
  created_at: v.string(),
  updated_at: v.string(),
  activated_at: v.optional(v.string()),
  deprecated_at: v.optional(v.string()),
  /** When the grace period of a deprecated version ends. */
  retire_after: v.optional(v.string()),
  retired_at: v.optional(v.string()),
});
export type Version = v.InferOutput<typeof Version>;

/** As the audit names it. */
export const subjectOfVersion = (slug: string, version: string): string => `app_version:${slug}@${version}`;
