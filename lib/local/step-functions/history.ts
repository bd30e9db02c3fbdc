import { Failure } from './failure.ts';
import type { Store } from './store.ts';

export interface HistoryEvent {
  timestamp: number;
  type: string;
  id: number;
  previousEventId: number;
  [details: string]: unknown;
}

const EVENTS_MAX = 25_000;

/** What GetExecutionHistory answers, written as it happens. */
export class History {
  #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  append(
    execution: string,
    type: string,
    previousEventId: number,
    details?: Record<string, unknown>,
  ): number {
    const row = this.#store
      .prepare('SELECT COALESCE(MAX(id), 0) + 1 AS next FROM sfn_history WHERE execution = ?')
      .get(execution);
    const id = Number(row?.['next']);
    // A machine that loops for ever ends here, as on AWS, instead of filling the disk. The last place is
    // kept for the event that says so.
    if (id >= EVENTS_MAX && !type.startsWith('Execution')) {
      const full = new Failure(
        'States.Runtime',
        `The execution reached the maximum number of history events (${EVENTS_MAX}).`,
      );
      full.isLocated = true;
      throw full;
    }
    const event: HistoryEvent = { timestamp: Date.now() / 1000, type, id, previousEventId };
    if (details) event[detailsMember(type)] = details;
    this.#store.prepare('INSERT INTO sfn_history VALUES (?, ?, ?)').run(execution, id, JSON.stringify(event));
    return id;
  }

  /** Events on one side of `afterId`; oldest first unless reversed. */
  page(
    execution: string,
    query: { afterId: number | undefined; limit: number; isReversed: boolean },
  ): HistoryEvent[] {
    const sql = query.isReversed
      ? 'SELECT event FROM sfn_history WHERE execution = ? AND id < ? ORDER BY id DESC LIMIT ?'
      : 'SELECT event FROM sfn_history WHERE execution = ? AND id > ? ORDER BY id LIMIT ?';
    const from = query.afterId ?? (query.isReversed ? Number.MAX_SAFE_INTEGER : 0);
    const rows = this.#store.prepare(sql).all(execution, from, query.limit);
    return rows.map((row) => JSON.parse(String(row['event'])) as HistoryEvent);
  }
}

function detailsMember(type: string): string {
  if (type.endsWith('StateEntered')) return 'stateEnteredEventDetails';
  if (type.endsWith('StateExited')) return 'stateExitedEventDetails';
  return `${type[0]?.toLowerCase()}${type.slice(1)}EventDetails`;
}
