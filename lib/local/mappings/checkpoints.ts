import type { Journal } from '../journal/journal.ts';

/**
 * How far each mapping has come in each shard of its stream: positions are those of virtual shards, and it is shards of
 * the engine that are closed. Saved only when records are dealt with, so that
 * whoever starts again after a crash sees some of them twice and none of them never.
 */
export class Checkpoints {
  #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
    journal.exec(`
      CREATE TABLE IF NOT EXISTS stream_mapping (
        mapping_id TEXT PRIMARY KEY, stream_arn TEXT NOT NULL, created_at_ms INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE IF NOT EXISTS stream_checkpoint (
        mapping_id TEXT NOT NULL, shard_id TEXT NOT NULL, sequence_number TEXT, closed INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (mapping_id, shard_id)
      ) STRICT;`);
  }

  /** When this mapping first met this stream. A table made anew has a new stream, and old positions mean nothing. */
  createdAtMs(mappingId: string, streamArn: string): number {
    const known = this.#journal
      .prepare('SELECT created_at_ms FROM stream_mapping WHERE mapping_id = ? AND stream_arn = ?')
      .get(mappingId, streamArn) as { created_at_ms: number } | undefined;
    if (known) return known.created_at_ms;
    const now = Date.now();
    this.#journal.prepare('DELETE FROM stream_checkpoint WHERE mapping_id = ?').run(mappingId);
    this.#journal
      .prepare('INSERT OR REPLACE INTO stream_mapping VALUES (?, ?, ?)')
      .run(mappingId, streamArn, now);
    return now;
  }

  find(mappingId: string, shardId: string): { sequenceNumber: string | undefined; closed: boolean } {
    const row = this.#journal
      .prepare('SELECT sequence_number, closed FROM stream_checkpoint WHERE mapping_id = ? AND shard_id = ?')
      .get(mappingId, shardId) as { sequence_number: string | null; closed: number } | undefined;
    return { sequenceNumber: row?.sequence_number ?? undefined, closed: row?.closed === 1 };
  }

  save(mappingId: string, shardId: string, sequenceNumber: string): void {
    this.#journal
      .prepare(
        `INSERT INTO stream_checkpoint (mapping_id, shard_id, sequence_number) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET sequence_number = excluded.sequence_number`,
      )
      .run(mappingId, shardId, sequenceNumber);
  }

  close(mappingId: string, shardId: string): void {
    this.#journal
      .prepare(
        `INSERT INTO stream_checkpoint (mapping_id, shard_id, closed) VALUES (?, ?, 1)
         ON CONFLICT DO UPDATE SET closed = 1`,
      )
      .run(mappingId, shardId);
  }

  keepOnly(mappingIds: Set<string>): void {
    const kept = JSON.stringify([...mappingIds]);
    for (const table of ['stream_checkpoint', 'stream_mapping']) {
      this.#journal
        .prepare(`DELETE FROM ${table} WHERE mapping_id NOT IN (SELECT value FROM json_each(?))`)
        .run(kept);
    }
  }
}
