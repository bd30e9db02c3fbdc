import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../functions/platform/errors.ts';
import { parse, parseAll } from '../../functions/platform/parse.ts';

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
  it('has all its faults named, up to as many as somebody reads', () => {
    for (const { faults } of refusalsOf({ names: ['x', 1, 'fine'], more: 1 }))
      expect(faults.map(({ pointer }) => pointer)).toEqual(['/names/0', '/names/1', '/more']);
    for (const { faults } of refusalsOf({ names: Array.from({ length: 1000 }, () => 1) }))
      expect(faults).toHaveLength(50);
  });

  // Faults are larger than values: for each of these there would be hundreds of bytes, and more than a call may pass on.
  it.each([
    ['numbers', { names: Array.from({ length: 131_000 }, () => 1) }, '/names/0'],
    ['texts', { names: Array.from({ length: 65_000 }, () => 'x') }, '/names/0'],
    ['objects', { names: [], builders: Array.from({ length: 87_000 }, () => ({})) }, '/builders/0/a'],
  ])('with nothing but wrong %s is refused for the first of them', (_what, input, pointer) => {
    for (const { code, faults } of refusalsOf(input)) {
      expect(code).toBe('request.invalid');
      expect(faults.map((fault) => fault.pointer)).toEqual([pointer]);
    }
  });

  it('is taken however many values it has, if they are right', () => {
    const Many = v.array(v.number());
    const sent = Array.from({ length: 100_000 }, (_, index) => index);
    expect(parse(Many, sent)).toHaveLength(sent.length);
  });
});
