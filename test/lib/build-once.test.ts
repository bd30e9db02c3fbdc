import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BUILDS_KEPT, buildOnce } from '../../lib/build-once.ts';

let root: string;
let kept: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'build-once-'));
  kept = join(root, 'kept');
  vi.stubEnv(BUILDS_KEPT, kept);
  write('node_modules/.package-lock.json', '{}');
  write('tsconfig.json', '{}');
  write('functions/one.ts', "import { other } from './other.ts';\nconsole.log(other);");
  write('functions/other.ts', "export const other = 'first';");
});
afterEach(() => vi.unstubAllEnvs());

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function build(define: Record<string, string> = {}): string {
  const entryPoints = ['functions/one.ts'];
  const [built] = buildOnce({ absWorkingDir: root, entryPoints, outdir: 'out', define });
  return Buffer.from(built?.contents ?? []).toString('utf8');
}

test('what was built of the same sources is kept, and the same', () => {
  const first = build();
  expect(first).toContain('"first"');
  expect(build()).toBe(first);
  expect(readdirSync(kept)).toHaveLength(1);
});

test.each([
  ['a source', () => write('functions/other.ts', "export const other = 'second';")],
  ['a source that is not built yet', () => write('functions/new.ts', '')],
  ['what is installed', () => write('node_modules/.package-lock.json', '{"packages":{}}')],
])('%s that changes makes it another build', (_, change) => {
  build();
  change();
  build();
  expect(readdirSync(kept)).toHaveLength(2);
});

test('an option that changes makes it another build', () => {
  build({ VALUE: '1' });
  build({ VALUE: '2' });
  expect(readdirSync(kept)).toHaveLength(2);
});

test('a changed source is built as it is now', () => {
  build();
  write('functions/other.ts', "export const other = 'second';");
  expect(build()).toContain('second');
});

test('sources that are not looked at for changes are refused', () => {
  write('elsewhere/other.ts', "export const other = 'elsewhere';");
  write('functions/one.ts', "import { other } from '../elsewhere/other.ts';\nconsole.log(other);");
  expect(() => build()).toThrow('elsewhere/other.ts is built');
});

test('nothing is kept where nobody asked for it', () => {
  vi.stubEnv(BUILDS_KEPT, undefined);
  build();
  expect(readdirSync(root)).not.toContain('kept');
});
