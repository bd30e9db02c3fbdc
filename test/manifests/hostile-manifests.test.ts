import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exceededBound, SCHEMA_BOUNDS } from '../../functions/manifests/manifest-bounds.ts';
import { parseYaml } from '../../functions/manifests/manifest-text.ts';
import { readManifest } from '../../functions/manifests/manifest.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { DEEP } from '../deep.ts';
import { type HostileManifest, manifestOf } from './hostile-manifests/case.ts';
import { CONTENT_CASES, SECRETS } from './hostile-manifests/contents.ts';
import { SCHEMA_CASES } from './hostile-manifests/schemas.ts';
import { SHAPE_CASES } from './hostile-manifests/shapes.ts';
import { YAML_CASES, YAML_VALUE_CASES } from './hostile-manifests/yaml.ts';
import { flatSample, fullSample } from './sample-manifests.ts';

const CASES: HostileManifest[] = [...SHAPE_CASES, ...CONTENT_CASES, ...SCHEMA_CASES];

const problemsOf = (manifest: unknown) => {
  const read = readManifest(manifest);
  return 'problems' in read ? read.problems : [];
};

/** Everything a refusal says, but for where. */
const wordsOf = (problems: { detail: string; hint?: string }[]): string =>
  problems.map(({ detail, hint = '' }) => `${detail} ${hint}`).join('\n');

describe('A hostile manifest', () => {
  it.each(CASES)('is refused, told where, and not told its own words: $name', (hostile) => {
    const problems = problemsOf(manifestOf(hostile));
    const { at, pointer = at, also = [], value } = hostile;
    const pointers = [...new Set(problems.map((problem) => problem.pointer))];
    expect(pointers).toContain(pointer);
    expect([pointer, ...also], JSON.stringify(problems)).toEqual(expect.arrayContaining(pointers));
    if (typeof value === 'string' && value.length >= 6) expect(wordsOf(problems)).not.toContain(value);
  });

  it.each(YAML_CASES)('is refused as text: $name', ({ text, says }) => {
    const refusal = refusalOf(() => parseYaml(text));
    expect(refusal.code).toBe('manifest.malformed');
    expect(refusal.faults).toHaveLength(1);
    expect(wordsOf(refusal.faults)).toContain(says);
    expect(wordsOf(refusal.faults).length).toBeLessThan(250);
  });

  it.each(YAML_VALUE_CASES)('is read as text and refused as a manifest: $name', ({ text, pointer }) => {
    expect(problemsOf(parseYaml(text)).map((problem) => problem.pointer)).toContain(pointer);
  });

  it('is one of at least 300, each different', () => {
    const names = [...CASES, ...YAML_CASES, ...YAML_VALUE_CASES].map(({ name }) => name);
    expect(CASES.length).toBeGreaterThanOrEqual(300);
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    expect(names.length).toBeGreaterThanOrEqual(600);
  });

  it('has everything that is wrong with it named at once', () => {
    const manifest = {
      ...flatSample(),
      slug: 'Not A Slug',
      version: 'latest',
      unknown_field: 1,
      other_field: 2,
      artifact_ref: 'apps/x:latest',
      metering: { kind: 'app_units' },
      parameters: { type: 'object', properties: { a: { type: 'string', pattern: '(?=x)' } } },
      ui_hints: { order: ['b'] },
    };
    expect(problemsOf(manifest).map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining([
        '/slug',
        '/version',
        '/unknown_field',
        '/other_field',
        '/artifact_ref',
        '/metering/units',
        '/parameters/properties/a/pattern',
        '/ui_hints/order/0',
      ]),
    );
  });

  it('has other parts judged where one part has the wrong shape', () => {
    const manifest = { ...flatSample(), runtime_profile: 'none', metering: { kind: 'app_units' } };
    const pointers = problemsOf(manifest).map(({ pointer }) => pointer);
    expect(pointers).toEqual(expect.arrayContaining(['/runtime_profile', '/metering/units']));
    expect(pointers).not.toContain('/runtime_backend');
  });

  it('makes nothing throw, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything({ withMap: true, withSet: true, withDate: true, withBigInt: true }), (sent) => {
        expect(problemsOf(sent)).not.toEqual([]);
      }),
    );
  });

  it('makes nothing throw, whatever stands in it and wherever', () => {
    const places = placesIn(fullSample(), '');
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom('k8s', 'server', 8080, -1, [], {}, [{}], null));
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        values,
        fc.constantFrom(...places),
        values,
        (at, value, other, more) => {
          const manifest = manifestOf({ name: '', sample: 'full', at, value });
          const read = readManifest(manifest);
          if ('manifest' in read) expect(readManifest(read.manifest)).toEqual(read);
          const twice = {
            ...(manifest as object),
            ...(manifestOf({ name: '', sample: 'full', at: other, value: more }) as object),
          };
          expect(readManifest(twice)).toBeDefined();
        },
      ),
      { numRuns: DEEP ? 3000 : 300 },
    );
  });

  it('names at most 100 problems', () => {
    const strangers = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`field_${index}`, index]),
    );
    expect(problemsOf({ ...flatSample(), ...strangers })).toHaveLength(100);
  });

  it.each(SECRETS)('does not get %s back, wherever it stands', (_name, secret) => {
    const sample = flatSample();
    for (const manifest of [
      { ...sample, slug: secret },
      { ...sample, version: secret },
      { ...sample, artifact_ref: secret },
      { ...sample, runtime_profile: { ...sample.runtime_profile, kind: secret } },
      { ...sample, parameters: { type: secret } },
      { ...sample, ui_hints: { order: [secret] } },
      { ...sample, metering: { kind: secret } },
    ])
      expect(JSON.stringify(problemsOf(manifest))).not.toContain(JSON.stringify(secret).slice(1, -1));
  });
});

describe('A manifest larger than it may be', () => {
  it('is refused at the level that is one too many, however many follow', () => {
    for (const levels of [40, 4000, 100_000]) {
      let bomb: unknown = 'deep';
      for (let level = 0; level < levels; level++) bomb = level % 2 ? { a: bomb } : [bomb];
      const problems = problemsOf({ ...flatSample(), parameters: bomb });
      expect(problems).toHaveLength(1);
      expect(problems[0]?.pointer.split('/').length).toBe(33);
    }
  });

  it('is refused when it has too many values, after looking at no more than that many', () => {
    let looked = 0;
    const watched = new Proxy(
      Array.from({ length: 1000 }, () => Array.from({ length: 100 }, () => 0)),
      {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) looked++;
          return Reflect.get(target, key, receiver) as unknown;
        },
      },
    );
    expect(problemsOf({ ...flatSample(), parameters: watched })).toEqual([
      { pointer: '', detail: 'Expected at most 20000 values.' },
    ]);
    expect(looked).toBeLessThanOrEqual(2000);
  });

  it('is refused when it has too many bytes, counted as they are stored', () => {
    const megabytes = { ...flatSample(), release_notes: '😀'.repeat(66_000) };
    expect(problemsOf(megabytes)).toEqual([
      { pointer: '', detail: 'Expected at most 262144 bytes of text.' },
    ]);
  });

  it('is refused when it holds itself', () => {
    const circle: Record<string, unknown> = flatSample();
    circle['parameters'] = circle;
    expect(problemsOf(circle)).toHaveLength(1);
  });

  it('has its schemas measured as well', () => {
    expect(exceededBound('x'.repeat(SCHEMA_BOUNDS.bytes), SCHEMA_BOUNDS)).toBeUndefined();
    expect(exceededBound('x'.repeat(SCHEMA_BOUNDS.bytes + 1), SCHEMA_BOUNDS)?.pointer).toBe('');
  });
});

/** Every place of a value, but for the whole. */
function placesIn(value: unknown, pointer: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    `${pointer}/${key}`,
    ...placesIn(inner, `${pointer}/${key}`),
  ]);
}

function refusalOf(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}
