import { join } from 'node:path';
import { build } from 'esbuild';
import { createContext } from '../../functions/platform/context.ts';
import { edge } from '../../functions/platform/edge/edge.ts';
import { newId } from '../../functions/platform/ids.ts';
import { interleave, measureApart, quantile, report, type Row } from './measure.ts';

const ROUNDS = 60;
const WARM_UP_ROUNDS = 20;
const CALLS = 2_000;

const ROOT = join(import.meta.dirname, '..', '..');

/** What the stack around every function weighs in its bundle and costs a call, in a process of its own. */
export const measureEdge = (): Promise<Row[]> => measureApart(import.meta.filename);

async function measure(): Promise<Row[]> {
  const { middy, ours } = await bytes();
  const { bare, inside } = await callMicros();
  return [
    {
      what: 'the edge in every bundle',
      value: (middy + ours) / 1000,
      unit: 'kB',
      note: `${(middy / 1000).toFixed(1)} kB of it middy`,
    },
    {
      what: 'the edge on every call',
      value: inside - bare,
      unit: 'µs',
      note: `${inside.toFixed(1)} µs − ${bare.toFixed(1)} µs: the stack and its timer`,
    },
  ];
}

async function bytes(): Promise<{ middy: number; ours: number }> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['functions/platform/edge/edge.ts'],
    write: false,
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outdir: 'bundles',
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const weight = (place: string): number =>
    inputs.reduce((sum, [file, { bytesInOutput }]) => sum + (file.includes(place) ? bytesInOutput : 0), 0);
  return { middy: weight('node_modules/@middy/'), ours: weight('functions/platform/edge/') };
}

/** A call that does nothing but have a context, inside the stack and without. */
async function callMicros(): Promise<{ bare: number; inside: number }> {
  const work = async (): Promise<string> => 'done';
  const handler = edge<object, string>({ kind: 'step', sent: () => ({}), tellError: () => undefined }, work);
  const lambda = { getRemainingTimeInMillis: () => 10_000 };
  const sides = {
    bare: () => cpuMicros(() => (createContext(newId()), work())),
    inside: () => cpuMicros(() => handler({}, lambda)),
  };
  await interleave(WARM_UP_ROUNDS, sides);
  const { bare, inside } = await interleave(ROUNDS, sides);
  return { bare: quantile(bare, 0.5), inside: quantile(inside, 0.5) };
}

async function cpuMicros(call: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  for (let made = 0; made < CALLS; made += 1) await call();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / CALLS;
}

if (import.meta.main) report(await measure());
