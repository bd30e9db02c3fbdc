// What registration records of stored content.

import * as v from 'valibot';

/** One platform of an image: what a host of that kind pulls. */
export const PlatformImage = v.object({
  /** `linux/amd64`, `linux/arm64/v8`. */
  platform: v.string(),
  digest: v.string(),
  size_bytes: v.number(),
  /** Who the process runs as; empty means root. */
  user: v.string(),
  exposed_ports: v.array(v.string()),
});
export type PlatformImage = v.InferOutput<typeof PlatformImage>;

/** Something attached to an image, such as a signature. */
export const AttachedImage = v.object({ digest: v.string(), artifact_type: v.string() });

/** One version of an object. What is written under its name later is another one. */
export const ObjectVersion = v.object({ key: v.string(), version_id: v.string() });
export type ObjectVersion = v.InferOutput<typeof ObjectVersion>;

interface Found {
  source_uri: string;
  media_type: string;
  size_bytes: number;
}

export interface FoundImage extends Found {
  platforms: PlatformImage[];
  referrers: v.InferOutput<typeof AttachedImage>[];
}

export interface FoundFile extends Found {
  object: ObjectVersion;
}
