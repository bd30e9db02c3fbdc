import { randomUUID } from 'node:crypto';
import type { Journal } from '../journal/journal.ts';
import type { S3Target } from './s3-operations.ts';

/** One version of an object, or the mark that it was deleted. */
export interface Version {
  key: string;
  version_id: string;
  /** Under which name the engine keeps its bytes; a mark has none. */
  object: string | null;
  etag: string;
  size: number;
  modified_at: string;
  is_latest: 0 | 1;
}

export type Written = Pick<Version, 'etag' | 'size' | 'modified_at'>;

/** Where a listing of versions goes on: after a key, or within it after a version. */
export interface VersionMarker {
  key: string;
  versionId?: string;
}

/**
 * Which versions the objects of a bucket have. The engine keeps their bytes, each under a name of its own that was
 * never used before; a version exists from the moment it stands here. So a process that dies between the two leaves
 * bytes nobody can reach, and never a version without its bytes.
 */
export class Versions {
  #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
    journal.exec(`
      CREATE TABLE IF NOT EXISTS s3_versioned_bucket (bucket TEXT PRIMARY KEY) STRICT;
      CREATE TABLE IF NOT EXISTS s3_version (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT, bucket TEXT NOT NULL, key TEXT NOT NULL, version_id TEXT NOT NULL,
        object TEXT, etag TEXT NOT NULL, size INTEGER NOT NULL, modified_at TEXT NOT NULL,
        UNIQUE (bucket, key, version_id)) STRICT;
      CREATE INDEX IF NOT EXISTS s3_version_by_age ON s3_version (bucket, key, sequence DESC);
      CREATE TABLE IF NOT EXISTS s3_upload (
        upload_id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key TEXT NOT NULL, object TEXT NOT NULL) STRICT`);
  }

  isKept(bucket: string): boolean {
    return (
      this.#journal.prepare('SELECT 1 FROM s3_versioned_bucket WHERE bucket = ?').get(bucket) !== undefined
    );
  }

  /** From now on versions are kept; what is there already becomes the version AWS calls `null`, where it lies. */
  keep(bucket: string, present: (Written & { key: string })[]): void {
    this.#atOnce(() => {
      this.#journal.prepare('INSERT INTO s3_versioned_bucket VALUES (?)').run(bucket);
      for (const { key, ...written } of present) this.#insert({ bucket, key }, 'null', key, written);
    });
  }

  forget(bucket: string): void {
    this.#journal.prepare('DELETE FROM s3_versioned_bucket WHERE bucket = ?').run(bucket);
  }

  isEmpty(bucket: string): boolean {
    return (
      this.#journal.prepare('SELECT 1 FROM s3_version WHERE bucket = ? LIMIT 1').get(bucket) === undefined
    );
  }

  /** The latest, unless one is named. */
  find({ bucket, key }: S3Target, versionId: string | null): Version | undefined {
    const [which, ...values] = versionId === null ? ['1'] : ['version_id = ?', versionId];
    return this.#journal
      .prepare(`${SELECT} WHERE bucket = ? AND key = ? AND ${which} ORDER BY sequence DESC LIMIT 1`)
      .get(bucket, key, ...values) as Version | undefined;
  }

  /** By key, and of each the newest first. */
  walk(bucket: string, prefix: string, after?: VersionMarker): Iterable<Version> {
    const { key = '', versionId } = after ?? {};
    const seen = versionId === undefined ? undefined : this.#sequenceOf({ bucket, key }, versionId);
    return this.#journal
      .prepare(
        `${SELECT} WHERE bucket = ? AND key >= ? AND substr(key, 1, length(?)) = ?
         AND (key > ? OR (key = ? AND sequence < ?)) ORDER BY key, sequence DESC`,
      )
      .iterate(bucket, prefix, prefix, prefix, key, key, seen ?? 0) as Iterable<unknown> as Iterable<Version>;
  }

  insert(target: S3Target, version: { id: string; object: string }, written: Written): void {
    this.#insert(target, version.id, version.object, written);
  }

  /** The id of the mark. */
  insertMark(target: S3Target): string {
    const id = newName();
    this.#insert(target, id, null, { etag: '', size: 0, modified_at: new Date().toISOString() });
    return id;
  }

  remove({ bucket, key }: S3Target, versionId: string): void {
    this.#journal
      .prepare('DELETE FROM s3_version WHERE bucket = ? AND key = ? AND version_id = ?')
      .run(bucket, key, versionId);
  }

  insertUpload({ bucket, key }: S3Target, uploadId: string, object: string): void {
    this.#journal.prepare('INSERT INTO s3_upload VALUES (?, ?, ?, ?)').run(uploadId, bucket, key, object);
  }

  /** Under which name the engine will keep what is being uploaded; an upload is of one key alone. */
  findUpload({ bucket, key }: S3Target, uploadId: string): string | undefined {
    const row = this.#journal
      .prepare('SELECT object FROM s3_upload WHERE upload_id = ? AND bucket = ? AND key = ?')
      .get(uploadId, bucket, key);
    return row?.['object'] as string | undefined;
  }

  removeUpload(uploadId: string): void {
    this.#journal.prepare('DELETE FROM s3_upload WHERE upload_id = ?').run(uploadId);
  }

  #insert({ bucket, key }: S3Target, versionId: string, object: string | null, written: Written): void {
    const { etag, size, modified_at } = written;
    this.#journal
      .prepare(
        'INSERT INTO s3_version (bucket, key, version_id, object, etag, size, modified_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      )
      .run(bucket, key, versionId, object, etag, size, modified_at);
  }

  #sequenceOf({ bucket, key }: S3Target, versionId: string): number | undefined {
    const row = this.#journal
      .prepare('SELECT sequence FROM s3_version WHERE bucket = ? AND key = ? AND version_id = ?')
      .get(bucket, key, versionId);
    return row?.['sequence'] as number | undefined;
  }

  #atOnce(work: () => void): void {
    this.#journal.exec('BEGIN');
    try {
      work();
      this.#journal.exec('COMMIT');
    } catch (error) {
      this.#journal.exec('ROLLBACK');
      throw error;
    }
  }
}

/** For a version and for its bytes: one that nobody can have chosen as a key. */
export function newName(): string {
  return randomUUID().replaceAll('-', '');
}

const SELECT = `SELECT key, version_id, object, etag, size, modified_at, sequence = (
  SELECT max(newer.sequence) FROM s3_version AS newer
  WHERE newer.bucket = s3_version.bucket AND newer.key = s3_version.key) AS is_latest FROM s3_version`;
