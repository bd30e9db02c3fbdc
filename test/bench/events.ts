import { setTimeout as wait } from 'node:timers/promises';
import { newId } from '../../functions/platform/ids.ts';
import type { ReadyFile } from '../e2e/platform-copy.ts';
import { type EventRows, openEventRows } from '../faults/event-rows.ts';
import { readRun, requestRun } from '../faults/runs.ts';
import { quantile, type Row } from './measure.ts';

const IDLE_RUNS = 100;
const BURST_EVENTS = 2_000;
const BURST_RUNS_MIN = 20;
/** Between two looks: what is looked at all the time is slower. */
const LOOK_MS = 50;

/** A version that nobody promotes: whoever is told of its instances has next to nothing to do. */
const INSTANCE = { app_instance_id: 'bench', app_slug: 'no-such-app', app_version: '1.0.0' };

/** How fast events get about, and how long what was asked for waits until its workflow runs. */
export async function measureEvents(ready: ReadyFile): Promise<Row[]> {
  const rows = await openEventRows(ready);
  await startedAfterMs(ready);
  const idle: number[] = [];
  for (let run = 0; run < IDLE_RUNS; run += 1) idle.push(await startedAfterMs(ready));

  const beside: number[] = [];
  let isOver = false;
  const burst = relay(rows).finally(() => (isOver = true));
  while (!isOver || beside.length < BURST_RUNS_MIN) beside.push(await startedAfterMs(ready));
  await burst;

  const relayedPerSecond = await perSecond(() => relay(rows));
  // Last: what is done about these goes on for a while.
  const dispatchedPerSecond = await perSecond(() => dispatch(rows));

  return [
    row('idle', idle, 0.5),
    row('idle', idle, 0.99),
    row(`beside ${BURST_EVENTS} events`, beside, 0.5),
    row(`beside ${BURST_EVENTS} events`, beside, 0.99),
    rate('relayed', relayedPerSecond),
    rate('dispatched', dispatchedPerSecond),
  ];
}

const row = (when: string, samples: number[], q: number): Row => ({
  what: `accepted → workflow started, ${when}, p${q * 100}`,
  value: quantile(samples, q),
  unit: 'ms',
  note: `${samples.length} runs`,
});

const rate = (what: string, value: number): Row => ({
  what: `events of one place ${what} a second`,
  value,
  unit: '/s',
  note: `${BURST_EVENTS} at once, with writing them`,
});

async function perSecond(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (BURST_EVENTS * 1000) / (performance.now() - begun);
}

async function relay(rows: EventRows): Promise<void> {
  const place = newId();
  await rows.write(...Array.from({ length: BURST_EVENTS }, () => ({ place })));
  while ((await rows.head(place)).sequence < BURST_EVENTS) await wait(LOOK_MS);
}

async function dispatch(rows: EventRows): Promise<void> {
  const place = newId();
  const told = { place, type: 'apps.instance.running', data: INSTANCE };
  const ids = await rows.write(...Array.from({ length: BURST_EVENTS }, () => told));
  // The last of each batch is written last.
  for (const id of ids.filter((_, index) => index % 25 === 24 || index === ids.length - 1))
    while (!(await rows.isDispatched(id))) await wait(LOOK_MS);
}

async function startedAfterMs(ready: ReadyFile): Promise<number> {
  const id = await requestRun(ready);
  for (;;) {
    await wait(LOOK_MS);
    const { body } = await readRun(ready, id);
    const { status, hops } = body as { status: string; hops: { hop: string; offset_ms: number }[] };
    const started = hops.find(({ hop }) => hop === 'started');
    if (started && status === 'passed') return started.offset_ms;
  }
}
