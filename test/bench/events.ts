import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { epochSeconds, secondsAfter } from '../../functions/platform/clock.ts';
import { newId } from '../../functions/platform/ids.ts';
import { feedHeadKey, OUTBOX_KIND, outboxKey } from '../../functions/platform/keys.ts';
import type { ReadyFile } from '../e2e/platform-copy.ts';
import { readCredentials } from '../e2e/signed-fetch.ts';
import { readRun, requestRun } from '../faults/runs.ts';
import { quantile, type Row } from './measure.ts';

const IDLE_RUNS = 100;
const BURST_EVENTS = 2_000;
const BURST_RUNS_MIN = 20;

/** How fast events get about, and how long what was asked for waits until its workflow runs. */
export async function measureEvents(ready: ReadyFile, table: string): Promise<Row[]> {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: ready.aws_endpoint,
      region: ready.region,
      credentials: readCredentials(ready),
    }),
  );
  await startedAfterMs(ready);
  const idle: number[] = [];
  for (let run = 0; run < IDLE_RUNS; run += 1) idle.push(await startedAfterMs(ready));

  const place = newId();
  const begun = performance.now();
  await burst(client, table, place);
  const beside: number[] = [];
  let relayedAfterMs: number | undefined;
  const relayed = (async () => {
    while ((await headOf(client, table, place)) < BURST_EVENTS) await wait(20);
    relayedAfterMs = performance.now() - begun;
  })();
  while (relayedAfterMs === undefined || beside.length < BURST_RUNS_MIN)
    beside.push(await startedAfterMs(ready));
  await relayed;

  const row = (what: string, samples: number[], q: number): Row => ({
    what: `accepted → workflow started, ${what}, p${q * 100}`,
    value: quantile(samples, q),
    unit: 'ms',
    note: `${samples.length} runs`,
  });
  return [
    row('idle', idle, 0.5),
    row('idle', idle, 0.99),
    row(`beside ${BURST_EVENTS} events`, beside, 0.5),
    row(`beside ${BURST_EVENTS} events`, beside, 0.99),
    {
      what: 'events of one place relayed a second',
      value: (BURST_EVENTS * 1000) / (relayedAfterMs ?? Number.NaN),
      unit: '/s',
      note: 'with writing them, and self-tests beside',
    },
  ];
}

async function startedAfterMs(ready: ReadyFile): Promise<number> {
  const id = await requestRun(ready);
  for (;;) {
    const { body } = await readRun(ready, id);
    const { status, hops } = body as { status: string; hops: { hop: string; offset_ms: number }[] };
    const started = hops.find(({ hop }) => hop === 'started');
    if (started && status === 'passed') return started.offset_ms;
    await wait(50);
  }
}

async function burst(client: DynamoDBDocumentClient, table: string, place: string): Promise<void> {
  const rows = Array.from({ length: BURST_EVENTS }, () => outboxRow(place));
  for (let start = 0; start < rows.length; start += 25) {
    const puts = rows.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
}

function outboxRow(project_id: string): Record<string, unknown> {
  const now = new Date();
  const event_id = newId();
  return {
    ...outboxKey(project_id, event_id),
    kind: OUTBOX_KIND,
    event: {
      event_id,
      type: 'bench.happened',
      version: 1,
      occurred_at: now.toISOString(),
      actor: 'platform:bench',
      correlation_id: event_id,
      project_id,
      data: {},
    },
    expires_at: epochSeconds(secondsAfter(now, 3600)),
  };
}

async function headOf(client: DynamoDBDocumentClient, table: string, place: string): Promise<number> {
  const { Item } = await client.send(
    new GetCommand({ TableName: table, Key: feedHeadKey(place), ConsistentRead: true }),
  );
  return Number(Item?.['sequence'] ?? 0);
}
