import { hash, randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { WorkloadJournal, WorkloadRecord } from '../tasks/performer.ts';
import { publishStep } from './step-channel.ts';

/** What this host holds, and under which ids secrets were fetched. */
export function createWorkloadJournal(database: DatabaseSync, now: () => Date): WorkloadJournal {
  const put = database.prepare(
    `INSERT OR REPLACE INTO workloads (workload_id, fence, desired, kind, payload)
     VALUES (:workload_id, :fence, :desired, :kind, :payload)`,
  );
  const get = database.prepare('SELECT * FROM workloads WHERE workload_id = ?');
  const list = database.prepare('SELECT * FROM workloads ORDER BY workload_id');
  const forget = database.prepare('DELETE FROM workloads WHERE workload_id = ?');
  const findFetch = database.prepare('SELECT fetch_id FROM fetches WHERE handle_hash = ?');
  const keepFetch = database.prepare('INSERT INTO fetches (handle_hash, fetch_id, kept_at) VALUES (?, ?, ?)');

  return {
    putWorkload({ workload_id, fence, desired, kind, payload }) {
      put.run({ workload_id, fence, desired, kind, payload });
      publishStep({ kind: 'workload.put', about: workload_id });
    },
    getWorkload: (id) => get.get(id) as WorkloadRecord | undefined,
    listWorkloads: () => list.all() as unknown as WorkloadRecord[],
    forgetWorkload(id) {
      forget.run(id);
      if (!database.isTransaction) publishStep({ kind: 'workload.forgotten', about: id });
    },
    fetchIdOf(handle) {
      // Whoever reads the journal must not be able to fetch what is behind a handle that was not spent yet.
      const handleHash = hash('sha256', handle);
      const known = findFetch.get(handleHash) as { fetch_id: string } | undefined;
      if (known) return known.fetch_id;
      const fetchId = randomUUID();
      keepFetch.run(handleHash, fetchId, now().toISOString());
      publishStep({ kind: 'fetch.kept', about: fetchId });
      return fetchId;
    },
  };
}
