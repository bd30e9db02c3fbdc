import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, matchPattern, PATTERN_STATES_MAX } from '../../functions/manifests/pattern.ts';
import { DEEP } from '../deep.ts';

const deep = DEEP;

const { tree: quantified } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b', '.', '\\d', '\\w', '\\W', '\\s', '\\.', '\\u0061', '😀'),
    fc.constantFrom('[ab]', '[^a]', '[a-c\\d]', '[\\w-]', '[-a]', '[^\\W\\d]'),
    fc.constantFrom('^', '$'),
    fc.tuple(tie('tree'), tie('tree')).map((pair) => pair.join('')),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => `(${one}|${other})`),
    fc
      .tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '{0}', '*?', '+?'))
      .map(([item, repeat]) => `(?:${item})${repeat}`),
  ),
}));

const shortText = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', '1', '-', ' ', '.', '\n', '😀'),
  maxLength: 8,
});

const REFUSED = [
  ['(', 'open'],
  ['(?=a)', 'looks ahead'],
  ['(?!a)', 'looks ahead'],
  ['(?<=a)', 'looks behind'],
  ['(?<!a)', 'looks behind'],
  ['(?<name>a)', 'names a group'],
  ['(a)\\1', 'refers back'],
  ['\\k<name>', 'refers back'],
  ['\\bword\\b', 'word boundary'],
  ['\\p{L}', 'property class'],
  ['\\cJ', 'control escape'],
  ['\\ud83d', 'half a character'],
  ['a**', 'repeats a repeat'],
  ['*a', 'repeats nothing'],
  ['^*', 'repeats an anchor'],
  ['a{2,1}', 'repeats backwards'],
  ['a{,2}', 'no lower number'],
  ['a{1001}', 'too many repeats'],
  ['a{99999999999}', 'too many repeats'],
  ['a{', 'open repeat'],
  ['[', 'open class'],
  ['[]', 'empty class'],
  ['[b-a]', 'backward range'],
  ['[\\d-z]', 'range from a class'],
  [']', 'bare bracket'],
  ['}', 'bare brace'],
  [')', 'bare parenthesis'],
  ['a\\', 'open escape'],
  ['(.{1,900}){1,900}', 'too many states'],
  ['((((a{1,99}){1,99}){1,99}){1,99}){1,99}', 'too many states'],
  ['a'.repeat(201), 'too long'],
] as const;

describe('A pattern of an app team', () => {
  it('means what it means in JavaScript', () => {
    fc.assert(
      fc.property(quantified, fc.array(shortText, { maxLength: 6 }), (source, texts) => {
        const compiled = compilePattern(source);
        fc.pre('pattern' in compiled);
        const native = new RegExp(source, 'u');
        for (const text of texts)
          expect(matchPattern(compiled.pattern, text).matches, JSON.stringify([source, text])).toBe(
            native.test(text),
          );
      }),
      { numRuns: deep ? 20_000 : 2000 },
    );
  });

  it('is accepted only where JavaScript accepts it too', () => {
    const pieces = fc.string({
      unit: fc.constantFrom(...Array.from('ab1-^$.*+?()[]{},|\\dwu:=<!😀')),
      maxLength: 12,
    });
    fc.assert(
      fc.property(pieces, shortText, (source, text) => {
        const compiled = compilePattern(source);
        if (!('pattern' in compiled)) return;
        expect(matchPattern(compiled.pattern, text).matches, JSON.stringify([source, text])).toBe(
          new RegExp(source, 'u').test(text),
        );
      }),
      { numRuns: deep ? 50_000 : 5000 },
    );
  });

  it.each(REFUSED)('is refused: %s (%s)', (source) => {
    const compiled = compilePattern(source);
    expect(compiled).toHaveProperty('expected');
    expect(JSON.stringify(compiled).length).toBeLessThan(200);
  });

  it.each([
    '^(a|a)*$',
    '(a*)*b',
    '(a+)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(.*)*(.*)*(.*)*x',
    '(a|aa)+$',
    '^(?:a?){40}a{40}$',
    '(.{0,400})*y',
  ])('takes steps linear in the text, however it would make another engine go back: %s', (source) => {
    const compiled = compilePattern(source);
    if (!('pattern' in compiled)) throw new Error('It should be accepted.');
    const { states } = compiled.pattern;
    expect(states.length).toBeLessThanOrEqual(PATTERN_STATES_MAX + 1);
    const ranges = states.reduce((sum, state) => sum + (state.kind === 'set' ? state.ranges.length : 0), 0);
    const perCharacter = 3 * states.length + ranges + 1;
    for (const length of [10, 100, 1000]) {
      const { steps } = matchPattern(compiled.pattern, `${'a'.repeat(length)}!`);
      expect(steps).toBeLessThanOrEqual(perCharacter * (length + 2));
    }
  });

  it('gives up when it may take no more steps', () => {
    const compiled = compilePattern('^(a|a)*$');
    if (!('pattern' in compiled)) throw new Error('It should be accepted.');
    expect(matchPattern(compiled.pattern, 'a'.repeat(1000), 100).matches).toBeUndefined();
  });
});
