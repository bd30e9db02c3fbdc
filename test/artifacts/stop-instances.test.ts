import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { getUsage } from '../../functions/artifacts/get-usage.ts';
import { instanceUseKey } from '../../functions/artifacts/keys.ts';
import { revokeArtifact } from '../../functions/artifacts/revoke-artifact.ts';
import { handler, stopStep } from '../../functions/artifacts/stop-instances.ts';
import { createContext } from '../../functions/platform/context.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { putItem, readItem, takeItem } from '../../functions/platform/data/table.ts';
import { newId } from '../../functions/platform/ids.ts';
import { ROOT } from '../../lib/bundle.ts';
import { errorNamed, functionArn } from '../local/step-functions/step-functions-world.ts';
import { HARMLESS } from '../promotion/promotion-world.ts';
import { type LifecycleWorld, openLifecycleWorld } from './lifecycle-world.ts';

// The workflow that asks what runs a revoked artifact to stop, on the local engine, over a real table.

type Input = Parameters<typeof stopStep>[1];
type Around = (input: Input, run: () => Promise<unknown>) => Promise<unknown>;

let world: LifecycleWorld;
let machineArn: string;
let around: Around;
let crashes: Promise<void>;

beforeAll(async () => {
  world = await openLifecycleWorld();
  const text = readFileSync(join(ROOT, 'state-machines', 'stop-instances.asl.json'), 'utf8')
    .replaceAll(/"IntervalSeconds": \d+/g, '"IntervalSeconds": 0.05')
    .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => functionArn(name));
  machineArn = world.world.put(JSON.parse(text) as object, { name: 'stop-instances' });
  process.env['STOP_INSTANCES_MACHINE_ARN'] = machineArn;
  world.world.functions['StopInstances'] = (input: Input) => around(input, () => handler(input));
  quiet();
});
afterEach(async () => {
  quiet();
  await world.renew();
});
afterAll(() => world.close());

function quiet(): void {
  around = (_, run) => run();
  crashes = Promise.resolve();
}

/** As `kill -9` of the engine: the call is never answered. */
function kill(): Promise<never> {
  crashes = new Promise((resolve) => setTimeout(resolve, 20)).then(() => world.world.crash());
  return new Promise(() => undefined);
}

const BECAUSE = { reason: 'It phones home.', stop_instances: true };

/** Revoked, and what that leads to, told twice. Answers with the id of the event. */
async function revoke(artifact: Artifact, body: object = BECAUSE): Promise<string> {
  await world.ask(revokeArtifact, artifact, body);
  await world.relay(artifact.id);
  const events = await world.eventsOf(artifact.id);
  return events.findLast(({ type }) => type === 'apps.artifact.revoked')?.event_id ?? '';
}

const executionOf = (id: string) => `${machineArn.replace(':stateMachine:', ':execution:')}:${id}`;

async function stopAll(artifact: Artifact) {
  const arn = executionOf(await revoke(artifact));
  const { status, error } = await world.world.end(arn);
  const states = (await world.world.history(arn)).flatMap(
    ({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? [],
  );
  return { status, error, states };
}

const isStop = ({ type }: PlatformEvent): boolean => type === 'apps.instance.stop_requested';
const stopsOf = async (instanceId: string) => (await world.eventsOf(instanceId)).filter(isStop);
const stopping = async (artifact: Artifact) => (await world.ask(getUsage, artifact))['stopping'];

const ASKED = ['StopInstances', 'DecideNext', 'AllAsked'];

/** As long as one page and a little more. */
const LONG = 130;

/** Instances of one project. */
async function useOften(artifact: Artifact, count: number): Promise<string[]> {
  const place = { org_id: newId(), project_id: newId() };
  const ids: string[] = [];
  while (ids.length < count)
    ids.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - ids.length) }, () => world.use(artifact, place)),
      )),
    );
  return ids;
}

/** Each of them was asked once: one event, one audit row, and counted once. */
async function expectAskedOnce(artifact: Artifact, ids: string[]): Promise<void> {
  const events = (await world.eventsOf(artifact.id)).filter(isStop);
  expect(events.map(({ data }) => String(data['app_instance_id'])).sort()).toEqual(ids.toSorted());
  const audited = (await world.auditOf(artifact.id)).filter(
    ({ action }) => action === 'apps.instance.request_stop',
  );
  expect(audited.map(({ subject }) => String(subject)).sort()).toEqual(
    ids.map((id) => `instance:${id}`).sort(),
  );
  expect(await stopping(artifact)).toMatchObject({ status: 'done', instance_count: ids.length });
}

describe('the instances that run a revoked artifact', () => {
  test('are left alone unless somebody says otherwise, now or later', async () => {
    const artifact = await world.artifact();
    const instance = await world.use(artifact);
    const first = await revoke(artifact, { reason: 'It phones home.' });
    expect(await stopsOf(instance)).toEqual([]);
    expect(await stopping(artifact)).toBeUndefined();
    await expect(world.world.describe(executionOf(first))).rejects.toMatchObject({
      name: 'ExecutionDoesNotExist',
    });
    expect((await stopAll(artifact)).status).toBe('SUCCEEDED');
    expect(await stopsOf(instance)).toHaveLength(1);
  });

  test('are each asked to stop once, in their own project, with an audit row there', async () => {
    const artifact = await world.artifact();
    const places = [0, 1].map(() => ({ org_id: newId(), project_id: newId() }));
    const instances = await Promise.all(
      places.map(async (place) => ({ ...place, id: await world.use(artifact, place) })),
    );
    const others = [
      await world.use(artifact, { app_slug: 'another-app' }),
      await world.use(artifact, { app_version: '1.0.1' }),
    ];
    const { status, states } = await stopAll(artifact);
    expect({ status, states }).toEqual({ status: 'SUCCEEDED', states: ASKED });
    for (const { id, org_id, project_id } of instances) {
      expect(await stopsOf(id)).toMatchObject([
        {
          org_id,
          project_id,
          actor: 'platform:artifact-revocation',
          data: {
            app_instance_id: id,
            reason: 'artifact.revoked',
            artifact_id: artifact.id,
            detail: 'It phones home.',
          },
        },
      ]);
      expect(await world.auditOf(id)).toMatchObject([
        { pk: `AUDIT#${project_id}`, action: 'apps.instance.request_stop', reason: 'It phones home.' },
      ]);
      expect(await readItem(instanceUseKey(artifact.digest, id))).toMatchObject({
        stop_requested_at: expect.any(String) as string,
      });
    }
    for (const id of others) expect(await stopsOf(id)).toEqual([]);
    expect(await stopping(artifact)).toMatchObject({ status: 'done', instance_count: 2 });
  });

  test('are none: then it is over at once', async () => {
    const artifact = await world.artifact();
    expect((await stopAll(artifact)).states).toEqual(ASKED);
    expect(await stopping(artifact)).toMatchObject({ status: 'done', instance_count: 0 });
  });
});

describe('a list that is longer than one step', () => {
  /** A step has twenty seconds: by a clock that leaps it ends after its first page. */
  const leaping: Around = (input) => {
    let looks = 0;
    const now = () => new Date(Date.now() + (looks += 1) * 10_000);
    return stopStep({ ...createContext('look-1'), now }, input);
  };

  test('is worked off step by step, each from where the one before ended', async () => {
    const artifact = await world.artifact();
    const ids = await useOften(artifact, LONG);
    around = leaping;
    const { status, states } = await stopAll(artifact);
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(['StopInstances', 'DecideNext', ...ASKED]);
    await expectAskedOnce(artifact, ids);
  });

  test('says how far it is', async () => {
    const artifact = await world.artifact();
    const ids = await useOften(artifact, LONG);
    const seen: unknown[] = [];
    around = async (input, run) => {
      seen.push(await stopping(artifact));
      return leaping(input, run);
    };
    await stopAll(artifact);
    expect(seen).toEqual([
      undefined,
      expect.objectContaining({ status: 'running', instance_count: LONG - 30 }),
    ]);
    expect(await stopping(artifact)).toMatchObject({ status: 'done', instance_count: ids.length });
  });
});

describe.each(HARMLESS)('a step that %s', (_, how) => {
  test('asks nobody twice', async () => {
    const artifact = await world.artifact();
    const ids = await useOften(artifact, 40);
    let isDone = false;
    around = (_input, run) => {
      if (isDone) return run();
      isDone = true;
      return how(run, kill);
    };
    const { status, states } = await stopAll(artifact);
    await crashes;
    expect({ status, states }).toEqual({ status: 'SUCCEEDED', states: ASKED });
    await expectAskedOnce(artifact, ids);
  });
});

describe('a step that fails for good', () => {
  const fails = () => Promise.reject(errorNamed('TypeError', 'secret inner workings'));

  test('ends the workflow, visibly; revoking again reaches those who were not asked', async () => {
    const artifact = await world.artifact();
    const ids = await useOften(artifact, 3);
    around = (input, run) => (input.run === 'stop' ? run().then(fails) : run());
    const { status, error, states } = await stopAll(artifact);
    expect({ status, error, states }).toEqual({
      status: 'FAILED',
      error: 'stopping.failed',
      states: ['StopInstances', 'FailStopping', 'StoppingFailed'],
    });
    quiet();
    ids.push(...(await useOften(artifact, 2)));
    expect((await stopAll(artifact)).status).toBe('SUCCEEDED');
    await expectAskedOnce(artifact, ids);
  });

  test('says so in the usage, with how many were asked until then', async () => {
    const artifact = await world.artifact();
    const first = await useOften(artifact, 2);
    // A row that cannot be read stands for whatever breaks.
    const broken = instanceUseKey(artifact.digest, newId());
    await putItem({ ...broken, project_id: 0 });
    expect((await stopAll(artifact)).status).toBe('FAILED');
    await takeItem(broken);
    expect(await stopping(artifact)).toMatchObject({ status: 'failed', instance_count: 0 });
    quiet();
    expect((await stopAll(artifact)).status).toBe('SUCCEEDED');
    await expectAskedOnce(artifact, first);
  });

  test('and cannot even be written down ends all the same', async () => {
    const artifact = await world.artifact();
    around = fails;
    const { status, states } = await stopAll(artifact);
    expect(status).toBe('FAILED');
    expect(states).toEqual(['StopInstances', 'FailStopping', 'StoppingFailed']);
  });
});
