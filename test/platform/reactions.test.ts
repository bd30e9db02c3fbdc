import type { SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commit } from '../../functions/platform/data/commit.ts';
import { event, type EventOf } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import { insertOutbox } from '../../functions/platform/data/outbox.ts';
import { on, reactions } from '../../functions/platform/workflow/reactions.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

const CupFilled = event('test.cup_filled', 1, v.object({ cup_id: v.string() }));
const CupBroken = event('test.cup_broken', 1, v.object({ cup_id: v.string(), pieces: v.number() }));

const TRACE = 'a'.repeat(32);

let table: ControlTable;
const seen: string[] = [];

beforeAll(async () => {
  table = await startControlTable();
  process.stdout.write = () => true;
});

beforeEach(() => void (seen.length = 0));

afterAll(() => table.stop());

const handler = reactions(
  on(CupFilled, async (ctx, { data }) => {
    seen.push(`${data.cup_id} filled, ${ctx.correlationId}, ${ctx.traceparent.split('-')[1]}`);
  }),
  on(CupBroken, async (_ctx, { data }) => {
    seen.push(`${data.cup_id} in ${data.pieces + 1}`);
  }),
);

async function happened(said: { type: string; version: number; data: Record<string, unknown> }) {
  const now = new Date();
  const about = { occurred_at: now.toISOString(), actor: 'user:u1', correlation_id: 'look-1' };
  const event_id = newId();
  await commit([insertOutbox({ ...said, ...about, event_id, project_id: 'p1' }, now)]);
  return { place: 'p1', event_id, type: said.type };
}

const pointed = (pointer: object) =>
  handler({
    Records: [
      {
        messageId: 'm1',
        body: JSON.stringify({
          ...pointer,
          correlation_id: 'look-1',
          traceparent: `00-${TRACE}-${'b'.repeat(16)}-01`,
        }),
        attributes: { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1' },
      },
    ],
  } as unknown as SQSEvent);

const AGAIN = { batchItemFailures: [{ itemIdentifier: 'm1' }] };
const DONE = { batchItemFailures: [] };

describe('a domain that is pointed to an event', () => {
  test('reads it again and does what it does about that kind, under the ids of whoever caused it', async () => {
    expect(await pointed(await happened(CupFilled({ cup_id: 'c1' })))).toEqual(DONE);
    expect(await pointed(await happened(CupBroken({ cup_id: 'c2', pieces: 2 })))).toEqual(DONE);
    expect(seen).toEqual([`c1 filled, look-1, ${TRACE}`, 'c2 in 3']);
  });

  test('passes over one that is gone', async () => {
    expect(await pointed({ place: 'p1', event_id: newId(), type: CupFilled.type })).toEqual(DONE);
    expect(seen).toEqual([]);
  });

  test.each([
    ['of a kind it does not react to', { type: 'test.cup_sold', version: 1, data: {} }],
    ['that does not say what its kind says', { type: CupBroken.type, version: 1, data: { cup_id: 'c3' } }],
  ])('does not do as if it had when it is one %s', async (_, said) => {
    expect(await pointed(await happened(said))).toEqual(AGAIN);
    expect(seen).toEqual([]);
  });
});

test('an event says what its kind names and no more', () => {
  const cup = { cup_id: 'c1', owner_secret: 'x' };
  expect(CupFilled(cup)).toEqual({ type: 'test.cup_filled', version: 1, data: { cup_id: 'c1' } });
});

test('the compiler refuses a reaction that takes another event, and an event that says something else', () => {
  const toBroken = async (_ctx: unknown, told: EventOf<typeof CupBroken>) => void told.data.pieces;
  // @ts-expect-error A cup that is filled has no pieces.
  on(CupFilled, toBroken);
  // @ts-expect-error Pieces are counted.
  expect(() => CupBroken({ cup_id: 'c1', pieces: 'many' })).toThrow('Expected number');
});
