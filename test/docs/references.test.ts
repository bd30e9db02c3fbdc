import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { routes } from '../../functions/routes.ts';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
  .sort()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Whether the link leads to a file, and to a heading where it names one. */
function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, from) : join(ROOT, dirname(from), path);
  if (!existsSync(target)) return false;
  if (anchor === undefined) return true;
  return all(readFileSync(target, 'utf8'), /^#+ (.+)$/gm)
    .map(anchorOf)
    .includes(anchor);
}

/** What stands for a value: `{id}`, `$ID`, `<id>`. */
const PLACEHOLDER = /\{[^}/]*\}|\$\w+|<[^>/]*>/g;

const shapes = new Set(
  Object.keys(routes).map((route) => (route.split(' ')[1] ?? '').replaceAll(PLACEHOLDER, '*')),
);

/** Whether there is such a route, or there are routes below. */
function isRoute(path: string): boolean {
  const shape = path.replaceAll(PLACEHOLDER, '*').replace(/[/.]$/, '');
  return [...shapes].some((each) => matches(shape, each) || each.startsWith(`${shape}/`));
}

/** A value may be written out: `/trust-policies/example`. */
function matches(shape: string, route: string): boolean {
  const [given, wanted] = [shape.split('/'), route.split('/')];
  return (
    given.length === wanted.length && wanted.every((part, index) => part === '*' || part === given[index])
  );
}

describe.each(pages)('$file', ({ file, text }) => {
  test('links to what exists', () => {
    const links = all(text, /\]\(([^)\s]+)\)/g).filter((link) => !/^(https?|mailto):/.test(link));
    expect(links.filter((link) => !leadsSomewhere(file, link))).toEqual([]);
  });

  test('names files and folders that exist', () => {
    const paths = all(
      text,
      /`((?:agent|bin|docs|functions|lib|sdk|starter-pack|state-machines|test|\.githooks)\/[\w./-]*)`/g,
    );
    expect(
      paths.filter((path) => !existsSync(join(ROOT, path)) && path !== 'test/bench/results.json'),
    ).toEqual([]);
  });

  test('names scripts that exist', () => {
    const scripts = all(text, /npm run (?:-s )?([\w:]+)/g);
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  });

  test('names routes that exist', () => {
    const paths = all(text, /(\/api\/v1\/[\w{}$<>/.-]+(?: id>[\w/-]*)*)/g).map(
      (path) => path.split('?')[0] ?? '',
    );
    expect(paths.filter((path) => !isRoute(path))).toEqual([]);
  });

  test('has commands that a shell understands', () => {
    for (const block of all(text, /^ *```sh\n([\s\S]*?)^ *```$/gm)) {
      const script = block.replaceAll(/<[a-z ]+>/g, 'value').replaceAll('…', '');
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
      expect({ block, status, stderr }).toMatchObject({ status: 0 });
    }
  });
});
