// How large each bundle may be: not much larger than it was recorded, so that one grows on purpose or not at all.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleAgent } from '../../lib/agent-bundle.ts';
import { bundleOf, ofType, shortName, type Synthesized } from '../lib/synthesized.ts';

export const KILOBYTES_MAX = 600;
/** The program of hosts is no function: it starts once, and is downloaded once. */
const AGENT = 'gpuaas-agent';
const AGENT_KILOBYTES_MAX = 1_000;
const GROWTH_MAX = 1.05;

const FILE = join(import.meta.dirname, 'bundle-sizes.json');
const RECORD = 'If that is meant: npm run bench -- --record-bundles';

/** By function, and of the agent, in kB. */
export type Sizes = Record<string, number>;

export function sizesOf({ data, platform, outdir }: Synthesized): Sizes {
  const functions = ofType({ ...data, ...platform }, 'AWS::Lambda::Function').map(([, fn]) => [
    shortName(fn.Properties.FunctionName),
    Buffer.byteLength(bundleOf(outdir, fn)) / 1000,
  ]);
  return Object.fromEntries([...functions, [AGENT, bundleAgent().length / 1000]]) as Sizes;
}

export const recordedSizes = (): Sizes => JSON.parse(readFileSync(FILE, 'utf8')) as Sizes;

export function recordSizes(sizes: Sizes): void {
  const sorted = Object.entries(sizes).sort(([one], [other]) => (one < other ? -1 : 1));
  const rounded = sorted.map(([name, kilobytes]) => [name, Number(kilobytes.toFixed(1))]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}

export function complaintsAbout(sizes: Sizes, recorded: Sizes): string[] {
  const gone = Object.keys(recorded).filter((name) => sizes[name] === undefined);
  return [
    ...Object.entries(sizes).flatMap(([name, kilobytes]) => complaintAbout(name, kilobytes, recorded[name])),
    ...gone.map((name) => `${name} is recorded and there is no such function. ${RECORD}`),
  ];
}

function complaintAbout(name: string, kilobytes: number, before: number | undefined): string[] {
  const now = `${name} is ${kilobytes.toFixed(1)} kB`;
  const max = name === AGENT ? AGENT_KILOBYTES_MAX : KILOBYTES_MAX;
  if (kilobytes > max) return [`${now}, over the ${max} kB it may have.`];
  if (before === undefined) return [`${now}, and no size is recorded for it. ${RECORD}`];
  if (kilobytes <= before * GROWTH_MAX) return [];
  return [
    `${now}, ${(100 * (kilobytes / before - 1)).toFixed(1)} % over the ${before} kB it was recorded with. ${RECORD}`,
  ];
}
