// Schemas that are made to cost, by a few numbers: what they are made of, how much of each, and how it is nested. The
// search over these numbers finds the worst ones.

import { flatSample } from './sample-manifests.ts';

/** Each is a number from 0 up to below 1: how far towards its most. */
export const GENES = [
  'shape',
  'properties',
  'choices',
  'choiceSize',
  'items',
  'itemSize',
  'levels',
  'pattern',
  'unique',
  'keySize',
  'wrong',
] as const;
export type Genes = Record<(typeof GENES)[number], number>;

/** Patterns with many states at once, with many ranges, long to compile, and plain. */
const PATTERNS = [
  '(.{0,300})*y',
  `[${Array.from({ length: 90 }, (_, index) => String.fromCharCode(0x4e00 + 2 * index)).join('')}]{0,990}$`,
  '^(a{0,900})?b?$',
  '(?:a?){400}a{400}$',
  '^(?:\\w|\\d|\\s|\\W){0,200}!$',
  '(.*)*(.*)*(.*)*x',
  '^x*$',
];

const listOf = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

const between = (gene: number, min: number, max: number): number => min + Math.floor(gene * (max - min + 1));

/** As a share of a range that spans orders of magnitude. */
const growing = (gene: number, max: number): number => Math.max(1, Math.round(max ** gene));

const numbered = (index: number, size: number): string =>
  `${index}`.padEnd(size, 'x').slice(0, Math.max(size, 5));

export const SHAPES: ((genes: Genes) => Record<string, unknown>)[] = [
  // A list of texts, each held against choices and a pattern.
  ({ choices, choiceSize, items, itemSize, pattern, unique, wrong }) => {
    const listed = listOf(between(choices, 0, 200), (index) => numbered(index, growing(choiceSize, 2000)));
    return {
      type: 'array',
      uniqueItems: unique > 0.5,
      items: {
        type: 'string',
        ...(pattern > 0.3 && { pattern: PATTERNS[between(pattern, 0, PATTERNS.length - 1)] }),
        ...(listed.length > 0 && { enum: listed }),
      },
      default: listOf(growing(items, 9000), (index) =>
        wrong > 0.7
          ? `${index}`
          : (listed.at(-1) ?? numbered(unique > 0.5 ? index : 0, growing(itemSize, 4000))),
      ),
    };
  },
  // A text, held against a pattern.
  ({ items, itemSize, pattern }) => ({
    type: 'string',
    pattern: PATTERNS[between(pattern, 0, PATTERNS.length - 1)],
    default: (items > 0.5 ? 'a' : 'x').repeat(growing(itemSize, 60_000)),
  }),
  // Objects as choices, and as items that are told apart.
  ({ choices, choiceSize, items, keySize, unique }) => {
    const name = 'k'.repeat(growing(keySize, 60));
    const one = (index: number): object =>
      Object.fromEntries(listOf(growing(choiceSize, 30), (member) => [`${name}${member}`, index]));
    const listed = listOf(between(choices, 1, 200), one);
    return {
      type: 'array',
      uniqueItems: unique > 0.5,
      items: { type: 'object', enum: listed },
      default: listOf(growing(items, 4000), (index) => (unique > 0.5 ? one(index) : listed.at(-1))),
    };
  },
  // Lists in lists, told apart at every level.
  ({ levels, items, choices, wrong }) => {
    let schema: Record<string, unknown> = { type: 'integer' };
    let value: unknown = wrong > 0.7 ? 'x' : 1;
    const depth = between(levels, 1, 15);
    for (let level = 0; level < depth; level++) {
      schema = { type: 'array', uniqueItems: true, items: schema };
      value =
        level === 0
          ? listOf(growing(items, 9000), (index) => (wrong > 0.7 ? `${index}` : index))
          : [value, ...listOf(between(choices, 0, 5), (index) => [index])];
    }
    return { ...schema, default: value };
  },
  // Objects of many members, of which many are required.
  ({ properties, items, keySize, wrong }) => {
    const names = listOf(between(properties, 1, 100), (index) => `p${numbered(index, growing(keySize, 60))}`);
    return {
      type: 'array',
      items: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])),
        required: names,
        additionalProperties: false,
      },
      default: listOf(growing(items, 4000), () =>
        wrong > 0.7 ? {} : Object.fromEntries(names.map((name) => [name, true])),
      ),
    };
  },
  // Patterns of which each is another, none of them used.
  ({ pattern, items }) => ({
    type: 'object',
    properties: Object.fromEntries(
      listOf(growing(items, 15), (outer) => [
        `o${outer}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            listOf(100, (inner) => [
              `i${inner}`,
              { type: 'string', pattern: `a{${between(pattern, 1, 940)}}b{${outer}}c{${inner}}` },
            ]),
          ),
        },
      ]),
    ),
  }),
  // Choices of choices: each level's values are written out again by the level above.
  ({ levels, choices, choiceSize }) => {
    let value: unknown = 'x'.repeat(growing(choiceSize, 2000));
    let schema: Record<string, unknown> = { type: 'string', enum: [value] };
    for (let level = 0; level < between(levels, 1, 14); level++) {
      value = listOf(between(choices, 1, 3), () => value);
      schema = { type: 'array', enum: [value], const: value, default: value, items: schema };
    }
    return schema;
  },
];

/** The schema of one property, repeated as often as is asked for. */
export function costlySchema(genes: Genes): Record<string, unknown> {
  const make = SHAPES[between(genes.shape, 0, SHAPES.length - 1)] ?? (() => ({}));
  const copies = genes.unique > 0.8 ? between(genes.properties, 1, 20) : 1;
  return {
    type: 'object',
    properties: Object.fromEntries(listOf(copies, (index) => [`a${index}`, make(genes)])),
  };
}

/** A manifest with that schema in all three places. */
export function costlyManifest(genes: Genes): Record<string, unknown> {
  const schema = costlySchema(genes);
  return { ...flatSample(), parameters: schema, placement_schema: schema, config_schema: schema };
}
