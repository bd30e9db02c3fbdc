// What would be removed, as a platform admin is told before it is.

import * as v from 'valibot';
import { type ProjectId, textOf } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import type { Repository } from '../storage/keep-repository.ts';
import { subjectsOf } from './garbage.ts';
import type { StoredFile, StoredImage } from '../storage/stored.ts';

const ITEMS_MAX = 100;

const GarbageItem = v.object({
  kind: v.picklist(['image', 'index', 'attachment', 'file']),
  /** Of what lies in the registry. */
  digest: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  /** Of what lies in the object store. */
  object: v.optional(v.object({ key: v.string(), version_id: v.string() })),
  size_bytes: v.number(),
  pushed_at: v.string(),
  why: v.string(),
});
type GarbageItem = v.InferOutput<typeof GarbageItem>;

export const RepositoryGarbage = v.object({
  repository: v.string(),
  project_id: textOf<ProjectId>(),
  app_slug: textOf<AppSlug>(),
  /** Until then somebody may push there, and nothing is removed. */
  open_until: v.string(),
  item_count: v.number(),
  size_bytes: v.number(),
  /** The first hundred of them. */
  items: v.array(GarbageItem),
});
type RepositoryGarbage = v.InferOutput<typeof RepositoryGarbage>;

export const GarbagePage = v.object({
  items: v.array(RepositoryGarbage),
  next_cursor: v.nullable(v.string()),
});

export function viewGarbage(
  {
    name,
    project_id,
    app_slug,
    open_until,
  }: Pick<Repository, 'name' | 'project_id' | 'app_slug' | 'open_until'>,
  images: StoredImage[],
  files: StoredFile[],
): RepositoryGarbage {
  const items = [...images.map(viewImage), ...files.map(viewFile)];
  return {
    repository: name,
    project_id,
    app_slug,
    open_until,
    item_count: items.length,
    size_bytes: items.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    items: items.slice(0, ITEMS_MAX),
  };
}

function viewImage(image: StoredImage): GarbageItem {
  const { digest, tags, sizeBytes, pushedAt, members } = image;
  const isAttached = subjectsOf(image).length > 0;
  return {
    kind: isAttached ? 'attachment' : members.length > 0 ? 'index' : 'image',
    digest,
    tags,
    size_bytes: sizeBytes,
    pushed_at: pushedAt.toISOString(),
    why: isAttached ? 'The image it is attached to is gone or will be removed too.' : 'No artifact uses it.',
  };
}

const viewFile = ({ key, versionId, sizeBytes, storedAt }: StoredFile): GarbageItem => ({
  kind: 'file',
  object: { key, version_id: versionId },
  size_bytes: sizeBytes,
  pushed_at: storedAt.toISOString(),
  why: 'No artifact uses this version, and it belongs to no file that is kept.',
});
