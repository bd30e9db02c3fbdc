import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { CALL_PROBES, LATER_CALL_PROBES } from './escape-probes/calls.ts';
import { FILE_PROBES } from './escape-probes/files.ts';
import { CONTROLS, type Probe } from './escape-probes/probe.ts';
import { LIMIT_PROBES, NETWORK_PROBES } from './escape-probes/reach.ts';
import { openEscapeWorld } from './escape-world.ts';

/** The first version of the engine whose own profile refuses them. */
const LATER_CALLS_FROM = 25;

let world: Awaited<ReturnType<typeof openEscapeWorld>>;
let probes: Probe[];
beforeAll(async () => {
  world = await openEscapeWorld();
  const { Version } = await world.world.docker.version();
  const later = Number.parseInt(Version, 10) >= LATER_CALLS_FROM ? LATER_CALL_PROBES : [];
  probes = [...CALL_PROBES, ...later, ...FILE_PROBES, ...NETWORK_PROBES, ...LIMIT_PROBES];
});
afterAll(() => world.close());

describe('from inside a workload', () => {
  let proven: Set<string>;

  test('at least 60 probes are worth something: without protection they get what they want', async () => {
    const succeeded = await Promise.all(
      CONTROLS.map((control) =>
        world.succeedInControl(
          control,
          probes.filter((probe) => probe.control === control),
        ),
      ),
    );
    proven = new Set(succeeded.flat());
    const unproven = probes.map(({ name }) => name).filter((name) => !proven.has(name));
    process.stdout.write(
      `${proven.size} probes are proven. Unproven on this machine: ${unproven.join('; ')}.\n`,
    );
    expect(proven.size).toBeGreaterThanOrEqual(60);
    expect(new Set(probes.map(({ name }) => name)).size).toBe(probes.length);
  });

  test('none of them gets what it wants', async () => {
    const still = probes.filter((probe) => !NETWORK_PROBES.includes(probe));
    // Whoever is not let through waits until its patience ends: all of these at once.
    const reached = await Promise.all(NETWORK_PROBES.map((probe) => world.succeedInWorkload([probe])));
    expect([...reached.flat(), ...(await world.succeedInWorkload(still))]).toEqual([]);
  });

  test('the host and the workload itself have come through it', async () => {
    expect(world.host.isUnharmed()).toBe(true);
    expect((await world.world.inspect(world.workloadId)).State.Running).toBe(true);
  });
});

describe('a workload that writes without end', () => {
  // Without what dd says at its end: that is on another stream, and may come after everything else.
  const FLOOD =
    'dd if=/dev/zero bs=1M count=40 2> /dev/null | busybox tr "\\0" x | busybox fold -w 8000; echo; echo end';
  const SERVE = `${FLOOD}; exec httpd -f -p 8080 -h /www`;

  test('takes no more of the disk for its log than it may', async () => {
    const { world: engine, run, image } = world;
    const unbounded = (await run(['run', '--detach', '--entrypoint=/bin/sh', image, '-c', FLOOD])).trim();
    await run(['wait', unbounded]);
    const launch = engine.launchOf(engine.container({ command: ['/bin/sh', '-c', SERVE] }));
    await engine.run('oci.launch', launch);
    const { Id } = await engine.inspect(launch.workload_id);
    await until(async () => (await run(['logs', '--tail=1', Id])).includes('end'), 'the end of it', 150);
    expect(logMib(unbounded)).toBeGreaterThanOrEqual(40);
    expect(logMib(Id)).toBeLessThanOrEqual(31);
  }, 180_000);

  const logMib = (id: string): number =>
    Number.parseInt(
      execFileSync('du', ['-sm', `${world.world.dataDir}/docker/containers/${id}`], { encoding: 'utf8' }),
      10,
    );
});
