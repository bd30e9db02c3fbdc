import { describe, expect, test } from 'vitest';
import { commandsOf } from './commands-of.ts';
import { PAGES, shellBlocksOf } from './shell-blocks.ts';

// Whoever has run `npm start` can run what the documents say.

/** Of the shell itself, and of every Debian: POSIX utilities, coreutils, sed, grep, find. */
const ALWAYS_THERE = `
  . : break cd command continue echo eval exec exit export false kill printf read return set shift test trap true type
  umask unset wait
  basename cat chmod cp cut date dirname find grep head id ln ls mkdir mktemp mv rm sed sha256sum sleep sort tail tee
  touch tr uname uniq wc xargs
`;
/** What the README asks for. */
const REQUIRED = 'curl node npm npx git';
/** What `npm start` installs (lib/local/system/system.ts). */
const INSTALLED = 'docker busybox';
/** Whoever operates a platform on AWS has its command, and so may whoever looks inside the local one. */
const isAboutAws = (page: string): boolean => /^docs\/(?:runbooks\/|guides\/(?:deploy|local)\.md)/.test(page);

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

const pages = PAGES.filter((page) => shellBlocksOf(page).length > 0);

test.each(pages)('%s uses no command that only a developer of the platform has', (page) => {
  const found = shellBlocksOf(page).map(({ commands }) => commandsOf(commands));
  const known = new Set([
    ...words(`${ALWAYS_THERE} ${REQUIRED} ${INSTALLED} ${isAboutAws(page) ? 'aws' : ''}`),
    ...found.flatMap(({ defines }) => [...defines]),
  ]);
  const unknown = found.flatMap(({ runs }) => [...runs]).filter((command) => !known.has(command));
  expect(unknown).toEqual([]);
});

describe('the commands of a piece of shell', () => {
  test.each<[string, string, string[]]>([
    ['one with arguments', 'skopeo copy a b', ['skopeo']],
    ['a pipe and a list', 'a x | b y && c || d; e &', ['a', 'b', 'c', 'd', 'e']],
    ['after an assignment', 'A=1 B="x y" run', ['run']],
    ['in a substitution', 'echo "$(a | b "$(c)")" $(d)', ['a', 'b', 'c', 'd', 'echo']],
    ['in an assignment', 'export A="$(uuidgen | tr x y)"', ['export', 'tr', 'uuidgen']],
    ['none in quotes', `echo 'a; b' "c; d"`, ['echo']],
    ['none in a comment', 'a # b; c', ['a']],
    ['on lines that go on', 'a \\\n  b \\\n  c', ['a']],
    ['not where output goes', 'a > b 2>&1 < c', ['a']],
    ['in a function', 'f() { a; }', ['a']],
    ['in a loop', 'for x in a b; do c; done', ['c']],
    ['after a keyword', 'if a; then b; fi', ['a', 'b']],
    ['quotes inside quotes', `curl -d '{"a": "'"$B"'"}' | tee x`, ['curl', 'tee']],
  ])('%s', (_, script, expected) => {
    expect([...commandsOf(script).runs].toSorted()).toEqual(expected);
  });

  test('functions are told apart', () => {
    expect([...commandsOf('f() { a; }\nf x').defines]).toEqual(['f']);
  });
});
