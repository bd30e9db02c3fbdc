// The pictures and tables of docs/architecture.md, made of the import graph and the rules about it.

import { filledBy, tableOf } from './marked-page.ts';
import type { Folder } from './read-imports.ts';

/** One rule of .dependency-cruiser.json. */
export interface Rule {
  name: string;
  comment: string;
}

type Arrow = readonly [from: string, to: string];

/** The page with its pictures and tables made anew. */
export function withArchitecture(page: string, folders: Folder[], rules: Rule[]): string {
  return filledBy('architecture', page, {
    pictures: picturesOf(folders),
    tables: tablesOf(folders, rules),
  });
}

function picturesOf(folders: Folder[]): string[] {
  return [
    pictureOf(arrowsBetween(folders, areaOf)),
    'The domains, without the kernel, which all of them import. An arrow is left out where a longer way leads to the same domain; the table at the end has every import.',
    pictureOf(withoutDetours(arrowsBetween(folders, domainOf))),
  ];
}

function tablesOf(folders: Folder[], rules: Rule[]): string[] {
  return [
    'A folder beside the importing one is named without the path to both.',
    tableOf(
      ['folder', 'files', 'imports'],
      folders.map(({ path, files, imports }) => [
        code(path),
        String(files),
        imports.map((each) => code(besideOf(path, each))).join(' '),
      ]),
    ),
    '`npm run check:imports` refuses an import that breaks one of these rules (`.dependency-cruiser.json`):',
    tableOf(
      ['rule', 'why'],
      rules.map(({ name, comment }) => [code(name), comment.replaceAll('<', '\\<')]),
    ),
  ];
}

const AREAS = {
  agent: 'agent: the program on hosts',
  bin: 'bin: the commands',
  lib: 'lib: the infrastructure (CDK)',
  engine: 'lib/local: the local engine',
  tables: 'functions/*.ts: every route, event and problem',
  domains: 'functions/(domain): the domains',
  kernel: 'functions/platform: the kernel',
  sdk: 'sdk: the signing library and CLI',
};

function areaOf(path: string): string | undefined {
  const [top, second] = path.split('/');
  if (top === 'functions') {
    if (second === undefined) return AREAS.tables;
    return second === 'platform' ? AREAS.kernel : AREAS.domains;
  }
  if (top === 'lib') return second === 'local' ? AREAS.engine : AREAS.lib;
  return top === 'agent' || top === 'bin' || top === 'sdk' ? AREAS[top] : undefined;
}

function domainOf(path: string): string | undefined {
  const [top, domain] = path.split('/');
  return top === 'functions' && domain !== 'platform' ? domain : undefined;
}

/** Which group of folders imports which; folders of no group are left out. */
export function arrowsBetween(folders: Folder[], groupOf: (path: string) => string | undefined): Arrow[] {
  const arrows = folders.flatMap(({ path, imports }) =>
    imports.map((each) => [groupOf(path), groupOf(each)] as const),
  );
  const drawn = new Map<string, Arrow>();
  for (const [from, to] of arrows)
    if (from !== undefined && to !== undefined && from !== to) drawn.set(`${from} ${to}`, [from, to]);
  return [...drawn.keys()].sort().map((key) => drawn.get(key) as Arrow);
}

/** The arrows that no longer way around makes superfluous. Where arrows go in a circle, all of them are kept. */
export function withoutDetours(arrows: Arrow[]): Arrow[] {
  const next = (from: string): string[] => arrows.filter((arrow) => arrow[0] === from).map(([, to]) => to);
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of next(from)) if (!seen.has(to)) reach(to, seen.add(to));
    return seen;
  };
  if (arrows.some(([from]) => reach(from).has(from))) return arrows;
  return arrows.filter(([from, to]) => !next(from).some((other) => other !== to && reach(other).has(to)));
}

function pictureOf(arrows: Arrow[]): string {
  const names = [...new Set(arrows.flat())].sort();
  const id = (name: string): string => `n${names.indexOf(name)}`;
  return [
    '```mermaid',
    'flowchart TD',
    ...names.map((name) => `  ${id(name)}["${name}"]`),
    ...arrows.map(([from, to]) => `  ${id(from)} --> ${id(to)}`),
    '```',
  ].join('\n');
}

function besideOf(path: string, other: string): string {
  const parent = path.slice(0, path.lastIndexOf('/') + 1);
  return parent !== '' && other.startsWith(parent) ? other.slice(parent.length) : other;
}

const code = (text: string): string => `\`${text}\``;
