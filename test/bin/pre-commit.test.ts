import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
/** What the hook goes by. */
const PARTS = [
  '.githooks',
  '.gitignore',
  '.oxlintrc.json',
  '.prettierrc.json',
  'package.json',
  'tsconfig.json',
] as const;

let repo: string;

/** As on a machine where nothing of git is set up, and not inside somebody else's commit. */
function run(command: string, args: string[], more: Record<string, string> = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(GIT_|CI$)/.test(name));
  const own = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const env = { ...Object.fromEntries(inherited), ...own, ...more };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: repo, env, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

function git(...args: string[]): string {
  const { status, said } = run('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args]);
  if (status !== 0) throw new Error(said);
  return said;
}

const tryToCommit = (...args: string[]) =>
  run('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'A change', ...args]);

const prepare = (more?: Record<string, string>) => run('sh', ['-c', manifest.scripts.prepare], more);

const hooksPath = () => run('git', ['config', 'core.hooksPath']).said.trim();

function write(file: string, text: string): void {
  mkdirSync(dirname(join(repo, file)), { recursive: true });
  writeFileSync(join(repo, file), text);
}

const read = (file: string): string => readFileSync(join(repo, file), 'utf8');
const committed = (file: string): string => git('show', `HEAD:${file}`);
const commits = (): number => git('log', '--oneline').trim().split('\n').length;

beforeEach(() => {
  repo = mkdtempSync(join(tmpdir(), 'pre-commit-'));
  git('init', '-q');
  for (const file of PARTS) cpSync(join(ROOT, file), join(repo, file), { recursive: true });
  mkdirSync(join(repo, 'node_modules'));
  for (const folder of ['.bin', '@types'])
    symlinkSync(join(ROOT, 'node_modules', folder), join(repo, 'node_modules', folder));
  write('lib/name.ts', "export const name = 'first';\n");
  git('add', '.');
  git('commit', '-qm', 'Begin');
});

afterEach(() => rmSync(repo, { recursive: true, force: true }));

describe('npm install', () => {
  test('enables the hook in a checkout', () => {
    expect(prepare().status).toBe(0);
    expect(hooksPath()).toBe('.githooks');
  });

  test('changes nothing in CI', () => {
    expect(prepare({ CI: 'true' }).status).toBe(0);
    expect(hooksPath()).toBe('');
  });

  test('leaves the hooks alone that somebody has chosen', () => {
    git('config', 'core.hooksPath', '/elsewhere');
    expect(prepare().status).toBe(0);
    expect(hooksPath()).toBe('/elsewhere');
  });

  test('works where there is no checkout', () => {
    rmSync(join(repo, '.git'), { recursive: true });
    expect(prepare()).toEqual({ status: 0, said: '' });
  });
});

describe('a commit', () => {
  beforeEach(() => void prepare());

  test('has its files formatted', () => {
    write('lib/name.ts', 'export const name = "second"');
    write('docs/a page.md', '* one\n* two\n');
    git('add', '.');
    expect(tryToCommit()).toMatchObject({ status: 0 });
    expect(committed('lib/name.ts')).toBe("export const name = 'second';\n");
    expect(committed('docs/a page.md')).toBe('- one\n- two\n');
    expect(git('status', '--short')).toBe('');
  });

  test('of a part of a file leaves the other part alone', () => {
    write('lib/name.ts', "export const name = 'second';\n");
    git('add', '.');
    write('lib/name.ts', 'export const name = "third"');
    expect(tryToCommit()).toMatchObject({ status: 0 });
    expect(committed('lib/name.ts')).toBe("export const name = 'second';\n");
    expect(read('lib/name.ts')).toBe('export const name = "third"');
  });

  test('of a part of a file is refused while that part is not formatted', () => {
    write('lib/name.ts', 'export const name = "second"');
    git('add', '.');
    write('lib/name.ts', 'export const name = "third"');
    expect(tryToCommit()).toEqual({ status: 1, said: expect.stringContaining('lib/name.ts') as unknown });
    expect(commits()).toBe(1);
    expect(git('show', ':lib/name.ts')).toBe('export const name = "second"');
    expect(read('lib/name.ts')).toBe('export const name = "third"');
  });

  test('of named files is checked and not rewritten', () => {
    write('lib/name.ts', 'export const name = "second"');
    expect(tryToCommit('lib/name.ts')).toMatchObject({ status: 1 });
    expect(read('lib/name.ts')).toBe('export const name = "second"');
    write('lib/name.ts', "export const name = 'second';\n");
    expect(tryToCommit('lib/name.ts')).toMatchObject({ status: 0 });
  });

  test('with a lint error is refused', () => {
    write('lib/name.ts', 'export const name: any = 1;\n');
    git('add', '.');
    expect(tryToCommit()).toEqual({ status: 1, said: expect.stringContaining('no-explicit-any') as unknown });
    expect(commits()).toBe(1);
  });

  test('with a type error is refused', () => {
    write('lib/name.ts', "export const name: number = 'second';\n");
    git('add', '.');
    expect(tryToCommit()).toMatchObject({ said: expect.stringContaining('TS2322') as unknown });
    expect(commits()).toBe(1);
  });

  test('that only removes files needs no check', () => {
    git('rm', '-q', 'lib/name.ts');
    expect(tryToCommit()).toMatchObject({ status: 0 });
  });
});
