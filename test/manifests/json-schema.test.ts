import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSchema, type JsonSchema, validateValue } from '../../functions/manifests/json-schema.ts';

const form: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  required: ['model'],
  minProperties: 1,
  maxProperties: 8,
  properties: {
    model: { type: 'string', minLength: 3, maxLength: 20, pattern: '^[a-z]+/[a-z]+$' },
    gpus: { type: 'integer', minimum: 1, maximum: 8 },
    share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    step: { type: 'number', multipleOf: 0.1 },
    size: { type: 'string', enum: ['small', 'large'] },
    kind: { type: 'string', const: 'server' },
    packages: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3, uniqueItems: true },
    day: { type: 'string', format: 'date' },
    quiet: { type: 'boolean' },
    lane: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
};

/** A value, and where it is wrong. */
const VALUES: [unknown, string[]][] = [
  [{ model: 'a/b' }, []],
  [{ model: 'a/b', gpus: 8, share: 0.5, step: 0.3, size: 'small', kind: 'server' }, []],
  [
    { model: 'a/b', packages: ['x', 'y'], day: '2026-01-31', quiet: false, lane: { name: 'one', more: 1 } },
    [],
  ],
  ['a/b', ['']],
  [null, ['']],
  [[], ['']],
  [{}, ['', '/model']],
  [{ gpus: 1 }, ['/model']],
  [{ model: 'a/b', other: 1 }, ['/other']],
  [JSON.parse('{"model": "a/b", "__proto__": 1}'), ['/__proto__']],
  [{ model: 'a/b', toString: 1 }, ['/toString']],
  [{ model: 7 }, ['/model']],
  [{ model: 'ab' }, ['/model']],
  [{ model: 'A/B' }, ['/model']],
  [{ model: `${'a'.repeat(20)}/b` }, ['/model']],
  [{ model: 'a/b', gpus: 0 }, ['/gpus']],
  [{ model: 'a/b', gpus: 9 }, ['/gpus']],
  [{ model: 'a/b', gpus: 1.5 }, ['/gpus']],
  [{ model: 'a/b', gpus: '1' }, ['/gpus']],
  [{ model: 'a/b', share: 0 }, ['/share']],
  [{ model: 'a/b', share: 1 }, ['/share']],
  [{ model: 'a/b', share: NaN }, ['/share']],
  [{ model: 'a/b', step: 0.35 }, ['/step']],
  [{ model: 'a/b', size: 'medium' }, ['/size']],
  [{ model: 'a/b', kind: 'client' }, ['/kind']],
  [{ model: 'a/b', packages: [] }, ['/packages']],
  [{ model: 'a/b', packages: ['x', 'y', 'z', 'u'] }, ['/packages']],
  [{ model: 'a/b', packages: ['x', 'x'] }, ['/packages']],
  [{ model: 'a/b', packages: ['x', 1] }, ['/packages/1']],
  [{ model: 'a/b', day: '31.1.2026' }, ['/day']],
  [{ model: 'a/b', quiet: 'no' }, ['/quiet']],
  [{ model: 'a/b', lane: {} }, ['/lane/name']],
  [{ model: 'a/b', gpus: 0, size: 'medium', quiet: 0 }, ['/gpus', '/quiet', '/size']],
];

describe('A value', () => {
  it('is held against a schema of the subset', () => {
    expect(checkSchema(form)).toEqual([]);
  });

  it.each(VALUES)('%j is wrong at %j', (value, pointers) => {
    expect([...new Set(validateValue(form, value).map(({ pointer }) => pointer))].sort()).toEqual(pointers);
  });

  it.each([
    ['date-time', '2026-01-31T12:00:00Z', '2026-01-31 12:00'],
    ['email', 'a@example.com', 'a@example'],
    ['hostname', 'gpu-7.example.com', '-gpu'],
    ['ipv4', '10.0.0.255', '10.0.0.256'],
    ['uri', 'https://example.com/x', 'no address'],
    ['uuid', '01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d'],
  ])('has the format %s', (format, good, bad) => {
    const schema: JsonSchema = { type: 'string', format };
    expect(checkSchema(schema)).toEqual([]);
    expect(validateValue(schema, good)).toEqual([]);
    expect(validateValue(schema, bad)).toHaveLength(1);
  });

  it('fits when it was made to fit', () => {
    const fitting = fc.record(
      {
        model: fc.stringMatching(/^[a-z]{1,9}\/[a-z]{1,9}$/),
        gpus: fc.integer({ min: 1, max: 8 }),
        share: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        size: fc.constantFrom('small', 'large'),
        packages: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 3 }),
        quiet: fc.boolean(),
      },
      { requiredKeys: ['model'] },
    );
    fc.assert(
      fc.property(fitting, (value) => {
        expect(validateValue(form, value)).toEqual([]);
      }),
    );
  });

  it('makes nothing throw, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(Array.isArray(validateValue(form, value))).toBe(true);
      }),
    );
  });

  it('is refused when matching it would take too many steps', () => {
    const schema: JsonSchema = { type: 'array', items: { type: 'string', pattern: '(.{0,300})*y' } };
    const faults = validateValue(
      schema,
      Array.from({ length: 60 }, () => 'x'.repeat(1000)),
    );
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.at(-1)?.detail).toBe('The schema needs too many steps to check.');
  });
});

describe('A schema', () => {
  it('makes nothing throw, whatever it is', () => {
    const keywords = Object.keys({
      ...form,
      enum: 1,
      const: 1,
      default: 1,
      items: 1,
      minLength: 1,
      pattern: 1,
      format: 1,
    });
    const { node: schema } = fc.letrec((tie) => ({
      node: fc.dictionary(
        fc.constantFrom(...keywords),
        fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom('string', 'object', 'array', 'integer', 1, true, ['a']),
          fc.anything({ maxDepth: 1 }),
          tie('node'),
        ),
        { maxKeys: 6 },
      ),
    }));
    fc.assert(
      fc.property(schema, fc.jsonValue(), (node, value) => {
        const faults = checkSchema(node);
        // One that passes can be used for any value.
        if (faults.length === 0)
          expect(Array.isArray(validateValue(node as unknown as JsonSchema, value))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('names no more than 100 faults', () => {
    const wrong = Object.fromEntries(
      Array.from({ length: 90 }, (_, index) => [`p${index}`, { a: 1, b: 2, c: 3 }]),
    );
    expect(checkSchema({ type: 'object', properties: wrong })).toHaveLength(100);
  });
});
