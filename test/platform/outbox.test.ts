import { expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { OUTBOX_SHARDS, outboxShard } from '../../functions/platform/data/keys.ts';
import { insertOutbox, insertSaid } from '../../functions/platform/data/outbox.ts';

process.env['CONTROL_TABLE'] = 'control';

const rowOf = (project_id: string): Record<string, unknown> => {
  const about = { occurred_at: new Date().toISOString(), actor: 'user:u1', correlation_id: 'look-1' };
  const event = { type: 'a.b.c', version: 1, data: {}, event_id: newId(), project_id, ...about };
  return insertOutbox(event, new Date()).action.Put?.Item ?? {};
};

test('all events of a place are in one shard of the outbox, by when they were said', () => {
  const place = newId();
  const rows = Array.from({ length: 20 }, () => rowOf(place));
  expect(new Set(rows.map(({ gsi1pk }) => gsi1pk))).toEqual(new Set([outboxShard(place)]));
  expect(rows.map(({ gsi1sk }) => gsi1sk)).toEqual(rows.map(({ sk }) => sk));
});

test('an event names what its change said before it in the same place', () => {
  const about = { occurred_at: new Date().toISOString(), actor: 'user:u1', correlation_id: 'look-1' };
  const said = ['p1', 'p2', 'p1', 'p1'].map((project_id, index) => {
    return { type: 'a.b.c', version: 1, data: {}, event_id: `e${index}`, project_id, ...about };
  });
  const rows = insertSaid(said, new Date()).map(({ action }) => action.Put?.Item ?? {});
  expect(rows.map(({ follows }) => follows)).toEqual([undefined, undefined, ['e0'], ['e0', 'e2']]);
});

test('places are spread over all shards', () => {
  const shards = Array.from({ length: 200 }, () => outboxShard(newId()));
  expect(new Set(shards)).toEqual(new Set(OUTBOX_SHARDS));
});
