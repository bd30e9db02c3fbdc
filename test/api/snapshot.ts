import { isDeepStrictEqual } from 'node:util';
import type { World } from './world.ts';

export type Item = Record<string, unknown>;
/** Everything the table holds, by key. */
export type Snapshot = Map<string, Item>;

export interface Difference {
  added: Item[];
  removed: Item[];
  changed: { before: Item; after: Item }[];
}

export async function takeSnapshot(world: World): Promise<Snapshot> {
  return new Map((await world.items('')).map((item) => [JSON.stringify([item['pk'], item['sk']]), item]));
}

export function differenceOf(before: Snapshot, after: Snapshot): Difference {
  const shared = [...before].flatMap(([key, item]) => {
    const now = after.get(key);
    return now ? [{ before: item, after: now }] : [];
  });
  return {
    added: [...after].filter(([key]) => !before.has(key)).map(([, item]) => item),
    removed: [...before].filter(([key]) => !after.has(key)).map(([, item]) => item),
    changed: shared.filter((pair) => !isDeepStrictEqual(pair.before, pair.after)),
  };
}

/** What happened to which kinds of rows, whatever their ids: two runs of one command have the same. */
export function effectOf({ added, removed, changed }: Difference): string[] {
  return [
    ...added.map((item) => `adds ${kindOf(item)}`),
    ...removed.map((item) => `removes ${kindOf(item)}`),
    ...changed.map(({ before, after }) => `changes ${kindOf(after)}: ${attributesBetween(before, after)}`),
  ].sort();
}

/** The words its key begins with. */
function kindOf({ pk, sk }: Item): string {
  const words = [pk, sk].flatMap((part) => /^[A-Z_]+/.exec(String(part))?.[0] ?? []);
  return [...new Set(words)].join(' ');
}

function attributesBetween(before: Item, after: Item): string {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return (
    [...names]
      .filter((name) => !isDeepStrictEqual(before[name], after[name]))
      // Which of several places was taken depends on ids.
      .map((name) => name.replace(/_\d+$/, '_n'))
      .sort()
      .join(', ')
  );
}
