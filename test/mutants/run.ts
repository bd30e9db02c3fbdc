// `npm run test:mutants -- [domain …]`: plants one wrong line at a time in a copy of the sources, runs the tests that
// should notice, and says which were not noticed.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notOrphaned } from '../../lib/local/engines/child-process.ts';
import { PATIENCE } from '../until.ts';
import { MUTANTS } from './index.ts';
import type { Mutant } from './mutant.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** One more at once than there are cores: many a test waits. */
const LANES = 3;
const SECONDS_MAX = 300;

interface Planted extends Mutant {
  domain: string;
}

interface Outcome {
  isNoticed: boolean;
  /** Which test noticed, or what else happened. */
  told: string;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((domain) => MUTANTS[domain] === undefined);
if (unknown.length > 0) {
  process.stderr.write(
    `There are no mutants of ${unknown.join(', ')}. There are some of ${Object.keys(MUTANTS).join(', ')}.\n`,
  );
  process.exit(2);
}

const waiting: Planted[] = Object.entries(MUTANTS)
  .filter(([domain]) => asked.length === 0 || asked.includes(domain))
  .flatMap(([domain, mutants]) => mutants.map((mutant) => ({ ...mutant, domain })));
const all = waiting.length;
const missed: Planted[] = [];
let done = 0;

const folder = mkdtempSync(join(tmpdir(), 'gpuaas-mutants-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
await Promise.all(
  Array.from({ length: Math.min(LANES, all) }, (_, lane) => work(join(folder, `lane-${lane}`))),
);

process.stdout.write(`\n${all - missed.length} of ${all} mutants were noticed.\n`);
for (const { what, file, domain } of missed)
  process.stdout.write(`  not noticed: ${what} (${domain}, ${file})\n`);
process.exitCode = missed.length > 0 ? 1 : 0;

/** Takes one mutant after the other, each into the same copy of the sources. */
async function work(copy: string): Promise<void> {
  copySources(copy);
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const begun = performance.now();
    const { isNoticed, told } = await tryOut(mutant, copy);
    if (!isNoticed) missed.push(mutant);
    done += 1;
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stdout.write(
      `${String(done).padStart(3)}/${all} ${isNoticed ? 'noticed' : 'MISSED '} ${mutant.domain}: ${mutant.what} — ${told} (${seconds} s)\n`,
    );
  }
}

async function tryOut({ file, from, to, noticedBy, domain }: Planted, copy: string): Promise<Outcome> {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  const [before, after, ...more] = source.split(from);
  if (before === undefined || after === undefined || more.length > 0 || from === to)
    return { isNoticed: false, told: `the line to change does not stand exactly once in ${file}` };
  writeFileSync(path, before + to + after);
  try {
    const first = await runTests(noticedBy, copy);
    return first.isNoticed ? first : await runTests([domain], copy);
  } finally {
    writeFileSync(path, source);
  }
}

async function runTests(words: string[], copy: string): Promise<Outcome> {
  const results = join(copy, 'results.json');
  rmSync(results, { force: true });
  const flags = ['--bail=1', '--reporter=json', `--outputFile.json=${results}`];
  const [command = '', ...args] = notOrphaned(
    [process.execPath, '--disable-warning=ExperimentalWarning', 'test/run.ts', ...words, ...flags],
    'TERM',
  );
  const env = { ...process.env, [PATIENCE]: '0.3' };
  const child = spawn(command, args, { cwd: copy, stdio: 'ignore', env });
  const overdue = setTimeout(() => child.kill('SIGKILL'), SECONDS_MAX * 1000);
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(overdue);
  // Nobody knows why: it may as well be the machine.
  if (!existsSync(results)) return { isNoticed: false, told: 'the tests did not come to an end' };
  const { testResults, success } = JSON.parse(readFileSync(results, 'utf8')) as {
    success: boolean;
    testResults: { message: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const failed = testResults.flatMap((result) =>
    result.assertionResults.filter(({ status }) => status === 'failed'),
  )[0];
  if (failed) return { isNoticed: true, told: failed.fullName };
  const broken = testResults.find(({ message }) => message !== '');
  // What cannot even be loaded, or makes no test fail, is no mistake that tests are needed for.
  return { isNoticed: false, told: success ? 'no test failed' : `no test ran: ${broken?.message ?? ''}` };
}

function copySources(copy: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name))))
    cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
}
