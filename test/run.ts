// `npm test`, with everything vitest takes, or with the names of domains: their own tests, and what walks the routes
// asked about their routes alone. End-to-end tests are asked for by path: they need a platform.

import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCLI, startVitest } from 'vitest/node';
import { routes } from '../functions/routes.ts';
import { BUILDS_KEPT } from '../lib/build-once.ts';
import { DOMAINS } from './domains.ts';
import { SEED } from './rough.ts';
import { Slowest } from './slowest.ts';

const withRoutes = new Set<string>(Object.values(routes).map(({ domain }) => domain));
const isDomain = (word: string): boolean =>
  /^[a-z]+$/.test(word) && existsSync(join(import.meta.dirname, word));

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const domains = filter.filter(isDomain);
const answering = domains.filter((domain) => withRoutes.has(domain));
if (answering.length > 0) process.env[DOMAINS] = answering.join();

// Whatever a test writes goes with the run. Others than root have to get there, too.
const folder = mkdtempSync(join(tmpdir(), 'gpuaas-test-'));
chmodSync(folder, 0o755);
process.env['TMPDIR'] = folder;
// The same sources are bundled for many platforms and apps of one run.
process.env[BUILDS_KEPT] = join(folder, 'builds');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const vitest = await startVitest(
  [
    ...filter.filter((word) => !isDomain(word)),
    ...domains.map((domain) => `test/${domain}/`),
    ...(answering.length > 0 ? ['test/api/'] : []),
  ],
  {
    ...options,
    run: true,
    watch: false,
    reporter: undefined,
    reporters: [...[options.reporter ?? 'default'].flat(), new Slowest()],
  },
);
process.stdout.write(
  SEED === undefined
    ? '\nNothing happened that AWS does only now and then.\n'
    : `\nWhat AWS does now and then happened by the seed ${SEED}: ROUGH=${SEED} npm test repeats it, ROUGH=off does without.\n`,
);
await vitest.exit();
