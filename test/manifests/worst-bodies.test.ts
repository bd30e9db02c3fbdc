import { describe, expect, it, vi } from 'vitest';
import {
  exceededBound,
  PROBLEMS_MAX,
  SCHEMA_BOUNDS,
  STEPS_MAX,
} from '../../functions/manifests/manifest-bounds.ts';
import { diffManifests } from '../../functions/manifests/manifest-diff.ts';
import { readManifest } from '../../functions/manifests/manifest.ts';
import { Steps } from '../../functions/manifests/steps.ts';
import { DEEP } from '../deep.ts';
import { costlyManifest, costlySchema, GENES, type Genes, SHAPES } from './costly-schemas.ts';
import { flatSample, fullSample } from './sample-manifests.ts';

// Work is counted, never timed. The last thing that was begun may go beyond the budget: one position of a pattern, one
// pattern to compile.
const COUNTED_MAX = STEPS_MAX + 20_000;

/** For a busy machine. */
const SEARCH_MS = DEEP ? 600_000 : 60_000;

const TOO_MANY = 'The schema needs too many steps to check.';
const MISMATCH = 'Expected a value that matches the schema it belongs to.';

const listOf = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

const withSchema = (schema: unknown): object => ({
  ...flatSample(),
  placement_schema: { type: 'object', properties: { a: schema } },
});
const genes = (...values: number[]): Genes =>
  Object.fromEntries(GENES.map((name, index) => [name, values[index] ?? 0])) as Genes;

const longChoices = listOf(200, (index) => `${index}`.padStart(150, 'x'));
const deepFaults = (): unknown => {
  let value: unknown = listOf(15_000, () => '\u0001');
  for (let level = 0; level < 28; level++) value = { ['~/'.repeat(50)]: value };
  return value;
};
/** Each needs the next, so that they can only be started from the last. */
const chained = (length: number): unknown[] =>
  listOf(length, (index) => ({ name: `c${index}`, depends_on: [`c${index + 1}`] }));
const withProfile = (member: object): object => {
  const { app, version } = fullSample() as { app: object; version: { runtime_profile: object } };
  return { app, version: { ...version, runtime_profile: { ...version.runtime_profile, ...member } } };
};

/** A body, and the only things that are said of it, or the first of a hundred. */
const WORST: [string, () => unknown, string[]][] = [
  [
    'many texts, each held against 200 choices',
    () =>
      withSchema({
        type: 'array',
        items: { type: 'string', enum: listOf(200, String) },
        default: listOf(9000, () => '199'),
      }),
    [],
  ],
  [
    'many texts, each held against 200 long choices',
    () =>
      withSchema({
        type: 'array',
        items: { type: 'string', enum: longChoices },
        default: listOf(200, () => longChoices[199]),
      }),
    [],
  ],
  [
    'many texts, each held against a long pattern',
    () =>
      withSchema({
        type: 'array',
        items: { type: 'string', pattern: '^(a{0,900})?b?$' },
        default: listOf(9000, () => 'b'),
      }),
    [],
  ],
  [
    'lists in lists in choices, written out at every level',
    () => costlyManifest(genes(0.93, 0.8, 0.47, 0.06, 0.53, 0.67, 0.59, 0.76, 0.52, 0.4, 0.34)),
    [],
  ],
  [
    'lists in lists, each told apart',
    () => costlyManifest(genes(0.5, 0, 0, 0, 0.95, 0, 0.99)),
    [`/placement_schema/properties/a0/default ${TOO_MANY}`],
  ],
  [
    'more and more patterns to compile',
    () => costlyManifest(genes(0.79, 0.31, 0.07, 0.52, 0.48, 0.98, 0.69, 0.93, 0.45, 0.01, 0.03)),
    [`/placement_schema/properties/a0/properties/o3/properties/i75 ${TOO_MANY}`],
  ],
  [
    'a long text and a pattern of many states',
    () => costlyManifest(genes(0.21, 0.1, 0.79, 0.8, 0.27, 0.74, 0.65, 0.14, 0.13, 0.22, 0.07)),
    [`/parameters/properties/a0/default ${TOO_MANY}`],
  ],
  [
    'a text that matches nothing, three times',
    () => costlyManifest(genes(0.21, 0, 0, 0, 0, 0.6, 0, 0.02)),
    ['parameters', 'placement_schema', 'config_schema'].map(
      (name) => `/${name}/properties/a0/default ${MISMATCH}`,
    ),
  ],
  [
    'lists where objects belong',
    () => {
      const { artifact_ref: _ref, ...sample } = flatSample();
      return { ...sample, artifacts: listOf(9000, () => []) };
    },
    listOf(100, (index) => `/artifacts/${index} Expected an object.`),
  ],
  [
    'a fault in every value, far below long names',
    () => ({ ...flatSample(), config_schema: deepFaults() }),
    listOf(
      100,
      (index) =>
        `/config_schema${`/${'~0~1'.repeat(50)}`.repeat(28)}/${index} Expected text without control characters.`,
    ),
  ],
  [
    'names held against names',
    () => ({
      ...flatSample(),
      parameters: {
        type: 'object',
        properties: Object.fromEntries(listOf(4900, (index) => [`p${index}`, {}])),
      },
      ui_hints: { order: listOf(9000, (index) => `q${index}`) },
    }),
    ['/ui_hints/order Expected at most 100 items.'],
  ],
  [
    'components that need each other',
    () => withProfile({ components: chained(3000) }),
    ['/version/runtime_profile/components Expected at most 20 items.'],
  ],
  [
    'one name for all of too many components',
    () => withProfile({ components: listOf(21, () => ({ name: 'server' })) }),
    ['/version/runtime_profile/components Expected at most 20 items.'],
  ],
  [
    'add-ons of components of add-ons',
    () =>
      withProfile({
        add_ons: listOf(900, (index) => ({
          name: `a${index}`,
          title: 'x',
          cost: 'x',
          components: listOf(15, () => 'server'),
        })),
      }),
    ['/version/runtime_profile/add_ons Expected at most 20 items.'],
  ],
];

const answerOf = (body: unknown, steps: Steps): string[] => {
  const read = readManifest(body, steps);
  return 'problems' in read ? read.problems.map(({ pointer, detail }) => `${pointer} ${detail}`) : [];
};

describe('One of the worst bodies', () => {
  it.each(WORST)('has an answer within the budget: %s', (_name, make, answers) => {
    const body = make();
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(256 * 1024);
    const steps = new Steps();
    const said = answerOf(body, steps);
    expect(steps.taken).toBeLessThanOrEqual(COUNTED_MAX);
    expect(said.length === PROBLEMS_MAX ? said.slice(0, answers.length) : said).toEqual(answers);
  });

  it(
    'is searched for, and none is worse: the budget holds, and below it changes no answer',
    { timeout: SEARCH_MS },
    () => {
      const random = randomOf(20_26);
      let worst = 0;
      for (let start = 0; start < (DEEP ? 10 : 1) * SHAPES.length; start++) {
        let best = Object.fromEntries(GENES.map((name) => [name, random()])) as Genes;
        best.shape = ((start % SHAPES.length) + 0.5) / SHAPES.length;
        let most = costOf(best);
        for (let climb = 0; climb < (DEEP ? 40 : 5); climb++) {
          const next = changed(best, random);
          const cost = costOf(next);
          if (cost >= most) [best, most] = [next, cost];
        }
        worst = Math.max(worst, most);
      }
      // The search is one that finds something.
      expect(worst).toBeGreaterThan(STEPS_MAX);
    },
  );

  it('is compared with itself at every level once', () => {
    let [before, after]: unknown[] = [listOf(4000, (index) => index), listOf(4000, (index) => index + 1)];
    for (let level = 0; level < 16; level++) [before, after] = [{ inner: before }, { inner: after }];
    const [one, other] = [readWith(before), readWith(after)];
    const spy = vi.spyOn(JSON, 'stringify');
    expect(diffManifests(one, other).changes.length).toBeGreaterThan(0);
    const written = spy.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
    spy.mockRestore();
    expect(written).toBeLessThan(300_000);
  });
});

function readWith(value: unknown) {
  const config_schema = { type: 'object', default: { value } };
  const read = readManifest({ ...flatSample(), config_schema });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.manifest;
}

/** What it would take without a budget, as far as we want to know; asserts what must hold with one. */
function costOf(tried: Genes): number {
  if (exceededBound(costlySchema(tried), SCHEMA_BOUNDS)) return 0;
  const body = costlyManifest(tried);
  if (JSON.stringify(body).length > 256 * 1024) return 0;
  const [bounded, free] = [new Steps(), new Steps(2 * STEPS_MAX)];
  const [said, wouldSay] = [answerOf(body, bounded), answerOf(body, free)];
  expect(bounded.taken).toBeLessThanOrEqual(COUNTED_MAX);
  if (free.taken > STEPS_MAX) expect(said.some((one) => one.endsWith(TOO_MANY))).toBe(true);
  else expect(said).toEqual(wouldSay);
  return free.taken;
}

/** Some of the genes a little, some altogether. */
function changed(before: Genes, random: () => number): Genes {
  const after = { ...before };
  for (const name of GENES)
    if (random() < 0.3)
      after[name] =
        random() < 0.5 ? random() : Math.min(0.999, Math.max(0, after[name] + (random() - 0.5) * 0.2));
  return after;
}

/** mulberry32: the same numbers in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
