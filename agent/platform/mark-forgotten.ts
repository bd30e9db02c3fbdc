import { AssignedWorkloadPage } from '../../functions/tasks/agent-api.ts';
import type { WorkloadJournal } from '../tasks/performer.ts';
import { nodePath } from './paths.ts';
import type { AskPlatform } from './platform-client.ts';

const PAGE = 100;
const PAGES_MAX = 100;

/**
 * The platform keeps a row for whatever it has asked of this host until a receipt ends it. What the journal holds and the
 * platform does not know any more is therefore not wanted here, and marked for `converge` to remove. What it still knows
 * and wants gone, it asks for by a task, which ends with a receipt. Answers how many were marked.
 */
export async function markForgotten(
  ask: AskPlatform,
  nodeId: string,
  journal: WorkloadJournal,
  signal: AbortSignal,
): Promise<number> {
  // The journal first: what is launched meanwhile is not in it, and is left alone.
  const held = journal.listWorkloads().filter(({ desired }) => desired !== 'absent');
  if (held.length === 0) return 0;
  const known = await listKnown(ask, nodeId, signal);
  const forgotten = held.flatMap(({ workload_id }) =>
    known.has(workload_id) ? [] : (journal.getWorkload(workload_id) ?? []),
  );
  for (const record of forgotten) journal.putWorkload({ ...record, desired: 'absent' });
  return forgotten.length;
}

async function listKnown(ask: AskPlatform, nodeId: string, signal: AbortSignal): Promise<Set<string>> {
  const known = new Set<string>();
  let cursor = '';
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const path = nodePath(nodeId, `/workloads?limit=${PAGE}${cursor}`);
    const { items, next_cursor } = await ask(
      { method: 'GET', path, attempts: 2, signal },
      AssignedWorkloadPage,
    );
    for (const { workload_id } of items) known.add(workload_id);
    if (next_cursor === null) return known;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
  throw new Error(`The platform lists more than ${PAGE * PAGES_MAX} workloads of this host.`);
}
