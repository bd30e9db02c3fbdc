import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../functions/platform/errors.ts';
import { parse, parseAll } from '../../functions/platform/parse.ts';

const Nothing = v.strictObject({});
const Leaf = v.strictObject({ note: v.optional(v.string()) });

describe('an array is no object,', () => {
  test.each<[string, v.GenericSchema, unknown, string]>([
    ['nor a strict one', Nothing, [], ''],
    ['nor an open one', v.object({}), [], ''],
    ['nor a loose one', v.looseObject({}), ['x'], ''],
    ['nor one with a rest', v.objectWithRest({}, v.string()), ['x'], ''],
    ['nor a record', v.record(v.string(), v.string()), ['x'], ''],
    ['nor one with checks', v.pipe(Leaf, v.maxEntries(3)), [], ''],
    ['nor one of several', v.union([v.strictObject({ a: v.string() }), Leaf]), [], ''],
    ['in a member', v.strictObject({ leaf: Leaf }), { leaf: [] }, '/leaf'],
    ['in an optional member', v.strictObject({ leaf: v.optional(Leaf) }), { leaf: [] }, '/leaf'],
    ['in a list', v.array(Leaf), [{}, []], '/1'],
    ['in a tuple', v.strictTuple([Leaf]), [[]], '/0'],
    ['in a record', v.record(v.string(), Leaf), { a: [] }, '/a'],
    [
      'in a variant',
      v.variant('run', [v.strictObject({ run: v.literal('a'), leaf: Leaf })]),
      { run: 'a', leaf: [] },
      '/leaf',
    ],
    ['behind a name of its own', v.lazy(() => Leaf), [], ''],
    [
      'where it is transformed',
      v.pipe(
        v.strictObject({ leaf: Leaf }),
        v.transform(({ leaf }) => leaf.note),
      ),
      { leaf: [] },
      '/leaf',
    ],
  ])('%s', (_, schema, input, pointer) => {
    // Twice: what is done to a schema is done once.
    for (const _again of [1, 2])
      expect(() => parse(schema, input)).toThrow(
        expect.objectContaining({
          code: 'request.invalid',
          faults: [{ pointer, detail: expect.stringMatching(/^Expected Object|^Expected \(/) as string }],
        }),
      );
  });

  test.each<[v.GenericSchema, unknown]>([
    [Nothing, {}],
    [v.strictObject({ leaf: v.optional(Leaf) }), { leaf: {} }],
    [v.union([Leaf, v.array(v.string())]), ['a']],
    [v.array(v.array(v.string())), [[]]],
    [v.partial(v.strictObject({ a: v.string() })), {}],
  ])('and what is one, or may be a list, still passes: %#', (schema, input) => {
    expect(parse(schema, input)).toEqual(input);
    expect(parse(schema, input)).toEqual(input);
  });

  test('also where a schema is made of one that was used before', () => {
    const Both = v.strictObject({ a: v.optional(v.string()), b: v.optional(v.string()) });
    expect(parse(Both, { a: '1', b: '2' })).toEqual({ a: '1', b: '2' });
    const One = v.pick(Both, ['a']);
    expect(parse(One, { a: '1' })).toEqual({ a: '1' });
    for (const input of [{ b: '2' }, []]) expect(() => parse(One, input)).toThrow('The request is not valid');
  });
});

const Body = v.strictObject({
  names: v.pipe(v.array(v.pipe(v.string(), v.minLength(2))), v.maxLength(20)),
  builders: v.optional(v.array(v.strictObject({ a: v.string(), b: v.string() }))),
});

function refusalOf(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

const refusalsOf = (input: unknown): Refusal[] => [
  refusalOf(() => parse(Body, input)),
  refusalOf(() => parseAll({ body: { schema: Body, input, pointer: '' } })),
];

describe('A body', () => {
  test('has all its faults named, up to as many as somebody reads', () => {
    for (const { faults } of refusalsOf({ names: ['x', 1, 'fine'], more: 1 }))
      expect(faults.map(({ pointer }) => pointer)).toEqual(['/names/0', '/names/1', '/more']);
    for (const { faults } of refusalsOf({ names: Array.from({ length: 1000 }, () => 1) }))
      expect(faults).toHaveLength(50);
  });

  // Faults are larger than values: for each of these there would be hundreds of bytes, and more than a call may pass on.
  test.each([
    ['numbers', { names: Array.from({ length: 131_000 }, () => 1) }, '/names/0'],
    ['texts', { names: Array.from({ length: 65_000 }, () => 'x') }, '/names/0'],
    ['objects', { names: [], builders: Array.from({ length: 87_000 }, () => ({})) }, '/builders/0/a'],
  ])('with nothing but wrong %s is refused for the first of them', (_what, input, pointer) => {
    for (const { code, faults } of refusalsOf(input)) {
      expect(code).toBe('request.invalid');
      expect(faults.map((fault) => fault.pointer)).toEqual([pointer]);
    }
  });

  test('is taken however many values it has, if they are right', () => {
    const Many = v.array(v.number());
    const sent = Array.from({ length: 100_000 }, (_, index) => index);
    expect(parse(Many, sent)).toHaveLength(sent.length);
  });
});
