import { ofType, type Resources, shortName } from '../lib/synthesized.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { forgetWorld } from '../forget-world.ts';
import { LAMBDA_LOG_BYTES, openMeter, type Taken } from './meter.ts';
import { HOURS_A_MONTH } from './line.ts';

/** A function that runs whether anybody uses the platform or not. */
export interface Sweep extends Taken {
  /** `<folder>-<file>` of the function. */
  name: string;
  runs: number;
  memoryGb: number;
}

/** Every scheduled function of the template, run once with nothing to do. */
export async function countSweeps(resources: Resources): Promise<Sweep[]> {
  forgetWorld();
  const { openWorld } = await import('../api/world.ts');
  const { dynamo } = await import('../../functions/platform/clients.ts');
  const world = await openWorld({ roughness: SMOOTH });
  process.env['REACTION_QUEUES'] = '[]';
  try {
    const measure = openMeter(dynamo());
    const sweeps: Sweep[] = [];
    for (const [, { Properties }] of ofType(resources, 'AWS::Scheduler::Schedule')) {
      const fn = resources[Properties.Target.Arn['Fn::GetAtt'][0] as string]?.Properties;
      const name = shortName(fn?.FunctionName);
      const file = `../../functions/${name.replace('-', '/')}.ts`;
      const { handler } = (await import(file)) as { handler: (event: object) => Promise<unknown> };
      const taken = await measure(() => handler({}));
      const runs = (HOURS_A_MONTH * 60) / minutesOf(Properties.ScheduleExpression as string);
      const logBytes = taken.logBytes + LAMBDA_LOG_BYTES;
      sweeps.push({ ...taken, logBytes, name, runs, memoryGb: (fn?.MemorySize as number) / 1024 });
    }
    return sweeps.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await world.close();
  }
}

function minutesOf(rate: string): number {
  const minutes = Number(/^rate\((\d+) minutes?\)$/.exec(rate)?.[1]);
  if (!minutes) throw new Error(`How often is ${rate}?`);
  return minutes;
}
