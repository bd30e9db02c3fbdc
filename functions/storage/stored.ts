// What lies in the registry and in the object store, as they tell it. Types only.

/** A manifest as the registry has it: an image, an index of images, or what is attached to one of them. */
export interface StoredImage {
  digest: string;
  tags: string[];
  pushedAt: Date;
  sizeBytes: number;
  /** What it is attached to, by its own word. */
  subject?: string;
  /** What an index leads to. */
  members: string[];
}

/** One version of an object; one that says that the object was deleted has no bytes. */
export interface StoredFile {
  key: string;
  versionId: string;
  storedAt: Date;
  sizeBytes: number;
}
