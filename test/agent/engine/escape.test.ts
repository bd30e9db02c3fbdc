import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALL_PROBES } from './escape-probes/calls.ts';
import { FILE_PROBES } from './escape-probes/files.ts';
import { CONTROLS } from './escape-probes/probe.ts';
import { LIMIT_PROBES, NETWORK_PROBES } from './escape-probes/reach.ts';
import { openEscapeWorld } from './escape-world.ts';

/** Those that leave disorder behind come last. */
const PROBES = [...CALL_PROBES, ...FILE_PROBES, ...NETWORK_PROBES, ...LIMIT_PROBES];

let world: Awaited<ReturnType<typeof openEscapeWorld>>;
beforeAll(async () => {
  world = await openEscapeWorld();
});
afterAll(() => world.close());

describe('from inside a workload', () => {
  test('nothing succeeds of what does without protection', async () => {
    const controls = await Promise.all(
      CONTROLS.map((control) =>
        world.succeedInControl(
          control,
          PROBES.filter((probe) => probe.control === control),
        ),
      ),
    );
    const proven = new Set(controls.flat());
    const unproven = PROBES.map(({ name }) => name).filter((name) => !proven.has(name));
    console.info(
      `${proven.size} probes succeed without protection. Unproven on this machine: ${unproven.join('; ')}`,
    );
    expect(await world.succeedInWorkload(PROBES)).toEqual([]);
    expect(world.host.isUnharmed()).toBe(true);
    expect(proven.size).toBeGreaterThanOrEqual(60);
    const { State } = await world.world.inspect(world.workloadId);
    expect(State.Running).toBe(true);
  });
});
