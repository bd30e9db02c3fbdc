import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../../lib/local/mappings/event-pattern.ts';

const matches = (pattern: unknown, event: unknown) => compilePattern(pattern)(event);

describe('what matches', () => {
  test.each<[string, unknown, unknown, boolean]>([
    ['an equal string', { a: ['x'] }, { a: 'x' }, true],
    ['another string', { a: ['x'] }, { a: 'X' }, false],
    ['one of several', { a: ['x', 'y'] }, { a: 'y' }, true],
    ['an equal number', { a: [300] }, { a: 3.0e2 }, true],
    ['a number written as a string', { a: [300] }, { a: '300' }, false],
    ['null for null', { a: [null] }, { a: null }, true],
    ['nothing for null', { a: [null] }, {}, false],
    ['the empty string', { a: [''] }, { a: '' }, true],
    ['true', { a: [true] }, { a: true }, true],
    ['every field', { a: ['x'], b: ['y'] }, { a: 'x', b: 'y' }, true],
    ['only one field of two', { a: ['x'], b: ['y'] }, { a: 'x', b: 'z' }, false],
    ['fields nobody asked about', { a: ['x'] }, { a: 'x', z: 1 }, true],
    ['a nested field', { a: { b: { c: ['x'] } } }, { a: { b: { c: 'x' } } }, true],
    ['a nested field of a value', { a: { b: ['x'] } }, { a: 'x' }, false],
    ['an object where a value is wanted', { a: ['x'] }, { a: { x: 'x' } }, false],
    ['one element of a list', { a: ['x'] }, { a: ['w', 'x'] }, true],
    ['an element of a nested list', { a: ['x'] }, { a: [['x']] }, true],
    ['no element', { a: ['x'] }, { a: [] }, false],
    ['one object of a list', { a: { b: [1], c: [2] } }, { a: [{ b: 0 }, { b: 1, c: 2 }] }, true],
    ['two objects of a list together', { a: { b: [1], c: [2] } }, { a: [{ b: 1 }, { c: 2 }] }, false],
    ['an inherited property', { toString: [{ exists: true }] }, {}, false],
    [
      'DynamoDB JSON',
      { dynamodb: { NewImage: { kind: { S: ['outbox'] } } } },
      { dynamodb: { NewImage: { kind: { S: 'outbox' } } } },
      true,
    ],
    ['a prefix', { a: [{ prefix: 'ab' }] }, { a: 'abc' }, true],
    ['no prefix', { a: [{ prefix: 'bc' }] }, { a: 'abc' }, false],
    ['a prefix in other case', { a: [{ prefix: { 'equals-ignore-case': 'AB' } }] }, { a: 'abc' }, true],
    ['a suffix', { a: [{ suffix: 'bc' }] }, { a: 'abc' }, true],
    ['a suffix in other case', { a: [{ suffix: { 'equals-ignore-case': 'BC' } }] }, { a: 'abc' }, true],
    ['the same but for case', { a: [{ 'equals-ignore-case': 'ABC' }] }, { a: 'abc' }, true],
    ['anything but this', { a: [{ 'anything-but': 'x' }] }, { a: 'y' }, true],
    ['this', { a: [{ 'anything-but': 'x' }] }, { a: 'x' }, false],
    ['anything but these', { a: [{ 'anything-but': [1, 2] }] }, { a: 3 }, true],
    ['anything but, and nothing there', { a: [{ 'anything-but': ['x'] }] }, {}, false],
    ['anything but a prefix', { a: [{ 'anything-but': { prefix: 'ab' } }] }, { a: 'abc' }, false],
    ['anything but some suffixes', { a: [{ 'anything-but': { suffix: ['x', 'c'] } }] }, { a: 'abc' }, false],
    ['a number in a range', { a: [{ numeric: ['>', 0, '<=', 5] }] }, { a: 5 }, true],
    ['a number out of a range', { a: [{ numeric: ['>', 0, '<=', 5] }] }, { a: 0 }, false],
    ['a number that equals', { a: [{ numeric: ['=', 1.5] }] }, { a: 1.5 }, true],
    ['a string compared as a number', { a: [{ numeric: ['=', 1] }] }, { a: '1' }, false],
    ['a field that exists', { a: [{ exists: true }] }, { a: null }, true],
    ['a field that should exist', { a: [{ exists: true }] }, {}, false],
    ['a field that does not exist', { a: [{ exists: false }] }, {}, true],
    ['a field that should not exist', { a: [{ exists: false }] }, { a: 1 }, false],
    ['no field in no object', { a: { b: [{ exists: false }] } }, {}, true],
    ['an object is no value', { a: [{ exists: true }] }, { a: { b: 1 } }, false],
    ['a value or none', { a: ['x', { exists: false }] }, {}, true],
    ['the first alternative', { $or: [{ a: [1] }, { b: [1] }] }, { a: 1 }, true],
    ['the second alternative', { $or: [{ a: [1] }, { b: [1] }] }, { b: 1 }, true],
    ['no alternative', { $or: [{ a: [1] }, { b: [1] }] }, { a: 2, b: 2 }, false],
    ['alternatives and a field', { c: [1], $or: [{ a: [1] }, { b: [1] }] }, { a: 1, c: 2 }, false],
    ['alternatives further down', { d: { $or: [{ a: [1] }, { b: [1] }] } }, { d: { b: 1 } }, true],
    ['no object at all', { a: ['x'] }, 'x', false],
  ])('%s', (_, pattern, event, expected) => {
    expect(matches(pattern, event)).toBe(expected);
  });
});

describe('what is refused', () => {
  test.each<[unknown, string]>([
    ['text', 'The pattern must be an object.'],
    [[], 'The pattern must be an object.'],
    [{}, 'The pattern must name at least one field.'],
    [{ a: {} }, 'The pattern.a must name at least one field.'],
    [{ a: 'x' }, 'The pattern.a must be an object.'],
    [{ a: [] }, 'The pattern.a must list at least one value.'],
    [{ a: [['x']] }, 'The pattern.a[0] must be a value or an object with a single operator.'],
    [{ a: [{}] }, 'The pattern.a[0] must be a value or an object with a single operator.'],
    [
      { a: [{ prefix: 'x', suffix: 'y' }] },
      'The pattern.a[0] must be a value or an object with a single operator.',
    ],
    [{ a: ['x', { wildcard: '*' }] }, 'The pattern.a[1] uses the unknown operator wildcard.'],
    [{ a: [{ prefix: 1 }] }, 'The pattern.a[0].prefix must be a string that is not empty.'],
    [{ a: [{ suffix: '' }] }, 'The pattern.a[0].suffix must be a string that is not empty.'],
    [{ a: [{ exists: 'yes' }] }, 'The pattern.a[0].exists must be true or false.'],
    [{ a: [{ numeric: '>' }] }, 'The pattern.a[0].numeric must be one comparison'],
    [{ a: [{ numeric: ['>'] }] }, 'The pattern.a[0].numeric must be pairs'],
    [{ a: [{ numeric: ['~', 1] }] }, 'The pattern.a[0].numeric must be pairs'],
    [{ a: [{ numeric: ['toString', 1] }] }, 'The pattern.a[0].numeric must be pairs'],
    [
      { a: [{ numeric: ['<', 5, '>', 0] }] },
      'The pattern.a[0].numeric must be one comparison, or a lower bound',
    ],
    [
      { a: [{ numeric: ['>', 5, '<', 0] }] },
      'The pattern.a[0].numeric must be one comparison, or a lower bound',
    ],
    [{ a: [{ 'anything-but': [] }] }, 'The pattern.a[0].anything-but must be strings or numbers'],
    [
      { a: [{ 'anything-but': ['x', 1] }] },
      'The pattern.a[0].anything-but must be strings or numbers, not both',
    ],
    [{ a: [{ 'anything-but': null }] }, 'The pattern.a[0].anything-but must be strings or numbers'],
    [
      { a: [{ 'anything-but': { like: 'x' } }] },
      'The pattern.a[0].anything-but uses the unknown operator like.',
    ],
    [{ $or: [{ a: [1] }] }, 'The pattern.$or must be a list of at least two patterns.'],
    [{ $or: [{ a: [1] }, 'x'] }, 'The pattern.$or[1] must be an object.'],
  ])('%j', (pattern, message) => {
    expect(() => compilePattern(pattern)).toThrow(message);
  });
});

describe('for any pattern and event', () => {
  const field = fc.constantFrom('a', 'b', 'c');
  const value = fc.constantFrom<(string | number | boolean | null)[]>(
    'ab',
    'abc',
    'AB',
    'x',
    0,
    1,
    5,
    true,
    null,
  );
  const operator = fc.oneof(
    fc.constantFrom('a', 'ab', 'c').map((text) => ({ prefix: text })),
    fc.constantFrom('b', 'bc', 'B').map((text) => ({ suffix: text })),
    fc.constantFrom('ab', 'ABC').map((text) => ({ 'equals-ignore-case': text })),
    fc.boolean().map((wanted) => ({ exists: wanted })),
    fc.constantFrom(['<', 1], ['>=', 1], ['>', 0, '<', 5]).map((bounds) => ({ numeric: bounds })),
    fc.uniqueArray(fc.constantFrom('ab', 'x'), { minLength: 1 }).map((texts) => ({ 'anything-but': texts })),
  );
  const leaf = fc.array(fc.oneof(value, operator), { minLength: 1, maxLength: 3 });
  const nested = <T>(leaves: fc.Arbitrary<T>) =>
    fc.oneof(leaves, fc.dictionary(field, leaves, { minKeys: 1, maxKeys: 3 }));
  const flatPattern = fc.dictionary(field, nested(leaf), { minKeys: 1, maxKeys: 3 });
  const event = fc.dictionary(field, nested(fc.oneof(value, fc.array(value, { maxLength: 3 }))), {
    maxKeys: 3,
  });
  type Pattern = Record<string, unknown[] | Record<string, unknown[]>>;
  type Event = Record<string, unknown>;

  /** Says the same in the plainest way: one path, one rule and one value at a time. */
  function naive(pattern: Pattern, given: Event): boolean {
    return Object.entries(pattern).every(([name, inner]) => {
      const found = given[name];
      if (Array.isArray(inner)) return inner.some((rule) => naiveRule(rule, found));
      const below =
        typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Event) : {};
      return naive(inner, below);
    });
  }

  function naiveRule(rule: unknown, found: unknown): boolean {
    const leaves = (Array.isArray(found) ? (found as unknown[]) : [found]).filter(
      (one) => one !== undefined && (typeof one !== 'object' || one === null),
    );
    if (typeof rule !== 'object' || rule === null) return leaves.includes(rule);
    const [[operatorName, operand] = ['', undefined]] = Object.entries(rule) as [string, unknown][];
    if (operatorName === 'exists') return leaves.length > 0 === operand;
    return leaves.some((one) => {
      const text = typeof one === 'string' ? one : undefined;
      switch (operatorName) {
        case 'prefix':
          return text?.startsWith(operand as string) ?? false;
        case 'suffix':
          return text?.endsWith(operand as string) ?? false;
        case 'equals-ignore-case':
          return text?.toUpperCase() === (operand as string).toUpperCase();
        case 'anything-but':
          return !(operand as unknown[]).includes(one);
        case 'numeric':
          if (typeof one !== 'number') return false;
          if ((operand as unknown[])[0] === '<') return one < 1;
          return (operand as unknown[])[0] === '>=' ? one >= 1 : one > 0 && one < 5;
        default:
          throw new Error(`The reference does not know ${operatorName}.`);
      }
    });
  }

  test('the answer is that of the plainest reading', () => {
    fc.assert(
      fc.property(flatPattern, event, (pattern, given) => {
        expect(matches(pattern, given)).toBe(naive(pattern as Pattern, given));
      }),
      { numRuns: 2000 },
    );
  });

  test('$or is the same as asking for each', () => {
    fc.assert(
      fc.property(flatPattern, flatPattern, event, (one, other, given) => {
        expect(matches({ $or: [one, other] }, given)).toBe(matches(one, given) || matches(other, given));
      }),
    );
  });

  test('anything at all is either a pattern or refused with a sentence', () => {
    fc.assert(
      fc.property(fc.jsonValue(), event, (pattern, given) => {
        try {
          expect(typeof matches(pattern, given)).toBe('boolean');
        } catch (error) {
          expect((error as Error).message).toMatch(/^The pattern\S* .*\.$/s);
        }
      }),
    );
  });
});
