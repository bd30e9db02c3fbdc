// Regular expressions from app teams, matched in time linear in the text. JavaScript's own engine goes back and tries
// again, which a short pattern can make take years; this one follows all ways at once (Thompson, 1968) and never goes
// back. The dialect is the part of ECMAScript's, with the u flag, that such a machine can run; what it accepts means the
// same there.

const PATTERN_CHARACTERS_MAX = 200;
export const PATTERN_STATES_MAX = 2000;
const REPEATS_MAX = 1000;

type Range = readonly [from: number, to: number];

type Node =
  | { kind: 'set'; ranges: Range[] }
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'sequence'; items: Node[] }
  | { kind: 'choice'; items: Node[] }
  | Repeat;

interface Repeat {
  kind: 'repeat';
  item: Node;
  min: number;
  max: number;
}

type State =
  | { kind: 'set'; ranges: Range[]; next: number }
  | { kind: 'start' | 'end'; next: number }
  | { kind: 'split'; next: number; other: number }
  | { kind: 'match' };

/** A machine ready to run. */
export interface Pattern {
  readonly states: readonly State[];
  readonly first: number;
}

/** Why a pattern is not accepted; never a part of the pattern itself. */
class Unacceptable extends Error {}

export function compilePattern(source: string): { pattern: Pattern } | { expected: string } {
  try {
    if (source.length > PATTERN_CHARACTERS_MAX)
      throw new Unacceptable(`at most ${PATTERN_CHARACTERS_MAX} characters`);
    const tree = new Reader(source).read();
    // Counted before anything is built: repeats of repeats multiply.
    if (sizeOf(tree) > PATTERN_STATES_MAX)
      throw new Unacceptable(`at most ${PATTERN_STATES_MAX} states once its repeats are written out`);
    const states: State[] = [{ kind: 'match' }];
    const first = build(tree, 0, states);
    return { pattern: { states, first } };
  } catch (error) {
    if (error instanceof Unacceptable) return { expected: error.message };
    throw error;
  }
}

/**
 * Whether the pattern occurs in the text, and how many steps it took: at most the states and their ranges for each
 * character. With stepsMax it gives up, and matches is undefined.
 */
export function matchPattern(
  { states, first }: Pattern,
  text: string,
  stepsMax = Infinity,
): { matches: boolean | undefined; steps: number } {
  const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const seen = new Int32Array(states.length).fill(-1);
  // Even a text that fails at once needs the list of states.
  let steps = states.length >> 5;
  let current: number[] = [];
  for (let position = 0; position <= characters.length; position++) {
    // A match may begin anywhere, so here too. Whatever is reached without reading a character is followed at once.
    const pending = [first, ...current];
    const waiting: { ranges: Range[]; next: number }[] = [];
    while (pending.length > 0) {
      const index = pending.pop() ?? 0;
      steps++;
      if (seen[index] === position) continue;
      seen[index] = position;
      const state = states[index];
      if (!state || state.kind === 'match') return { matches: true, steps };
      if (state.kind === 'set') waiting.push(state);
      else if (state.kind === 'split') pending.push(state.next, state.other);
      else if (position === (state.kind === 'start' ? 0 : characters.length)) pending.push(state.next);
    }
    const character = characters[position] ?? -1;
    current = [];
    for (const { ranges, next } of waiting) {
      steps += ranges.length;
      if (steps > stepsMax) return { matches: undefined, steps };
      if (ranges.some(([from, to]) => from <= character && character <= to)) current.push(next);
    }
    if (steps > stepsMax) return { matches: undefined, steps };
  }
  return { matches: false, steps };
}

function sizeOf(node: Node): number {
  switch (node.kind) {
    case 'sequence':
      return node.items.reduce((sum, item) => sum + sizeOf(item), 1);
    case 'choice':
      return node.items.reduce((sum, item) => sum + sizeOf(item) + 1, 0);
    case 'repeat':
      return (node.max === Infinity ? node.min + 1 : node.max) * (sizeOf(node.item) + 1) + 1;
    default:
      return 1;
  }
}

/** Adds the states of a node that go on to `next`, and answers with the first of them. */
function build(node: Node, next: number, states: State[]): number {
  const add = (state: State): number => states.push(state) - 1;
  switch (node.kind) {
    case 'set':
      return add({ kind: 'set', ranges: node.ranges, next });
    case 'start':
    case 'end':
      return add({ kind: node.kind, next });
    case 'sequence':
      return node.items.reduceRight((then, item) => build(item, then, states), next);
    case 'choice':
      return node.items
        .map((item) => build(item, next, states))
        .reduceRight((other, first) => add({ kind: 'split', next: first, other }));
    case 'repeat':
      return buildRepeat(node, next, states);
    default:
      return next;
  }
}

function buildRepeat({ item, min, max }: Repeat, next: number, states: State[]): number {
  let first = next;
  if (max === Infinity) {
    const loop = { kind: 'split' as const, next: 0, other: next };
    first = states.push(loop) - 1;
    loop.next = build(item, first, states);
  } else {
    for (let count = min; count < max; count++)
      first = states.push({ kind: 'split', next: build(item, first, states), other: next }) - 1;
  }
  for (let count = 0; count < min; count++) first = build(item, first, states);
  return first;
}

const LAST = 0x10ffff;
const DIGITS: Range[] = [[48, 57]];
const WORDS: Range[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
// ECMA-262 §12.2 and §12.3: what \s stands for.
const BLANKS: Range[] = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: Range[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];

const CLASSES: Record<string, Range[]> = {
  d: DIGITS,
  D: allBut(DIGITS),
  w: WORDS,
  W: allBut(WORDS),
  s: BLANKS,
  S: allBut(BLANKS),
};
const CONTROLS: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Characters that must be escaped to stand for themselves, with the u flag. */
const SYNTAX = '^$\\.*+?()[]{}|/';

function allBut(ranges: readonly Range[]): Range[] {
  const rest: Range[] = [];
  let from = 0;
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    if (start > from) rest.push([from, start - 1]);
    from = Math.max(from, end + 1);
  }
  if (from <= LAST) rest.push([from, LAST]);
  return rest;
}

/** Reads a pattern from left to right. It calls itself once for each parenthesis, of which 200 characters hold 100. */
class Reader {
  private readonly characters: string[];
  private position = 0;

  constructor(source: string) {
    this.characters = Array.from(source);
  }

  read(): Node {
    const tree = this.readChoice();
    if (this.position < this.characters.length) throw new Unacceptable('no ) without a (');
    return tree;
  }

  private readChoice(): Node {
    const items = [this.readSequence()];
    while (this.take('|')) items.push(this.readSequence());
    const [only] = items;
    return items.length === 1 && only ? only : { kind: 'choice', items };
  }

  private readSequence(): Node {
    const items: Node[] = [];
    while (this.position < this.characters.length && this.peek() !== '|' && this.peek() !== ')')
      items.push(this.readTerm());
    return { kind: 'sequence', items };
  }

  private readTerm(): Node {
    if (this.take('^')) return { kind: 'start' };
    if (this.take('$')) return { kind: 'end' };
    return this.readRepeat(this.readAtom());
  }

  private readAtom(): Node {
    const character = this.next();
    if (character === '(') return this.readGroup();
    if (character === '[') return this.readClass();
    if (character === '.') return { kind: 'set', ranges: allBut(LINE_ENDS) };
    if (character === '\\') return { kind: 'set', ranges: this.readEscape() };
    if ('*+?'.includes(character)) throw new Unacceptable('something to repeat before * + ?');
    if ('{}]'.includes(character))
      throw new Unacceptable('{ } ] escaped with \\ where they stand for themselves');
    return { kind: 'set', ranges: [rangeOf(character)] };
  }

  private readGroup(): Node {
    if (this.take('?') && !this.take(':'))
      throw new Unacceptable('plain groups ( ) and (?: ) only: no lookaround, no named groups');
    const group = this.readChoice();
    if (!this.take(')')) throw new Unacceptable('a ) for each (');
    return group;
  }

  private readRepeat(item: Node): Node {
    const bounds = this.readBounds();
    if (!bounds) return item;
    // A lazy repeat finds the same matches, in another order.
    this.take('?');
    const [min, max] = bounds;
    if (min > REPEATS_MAX || (max !== Infinity && max > REPEATS_MAX))
      throw new Unacceptable(`at most ${REPEATS_MAX} repeats`);
    if (min > max) throw new Unacceptable('repeats from the smaller number to the larger');
    return { kind: 'repeat', item, min, max };
  }

  private readBounds(): [number, number] | undefined {
    if (this.take('*')) return [0, Infinity];
    if (this.take('+')) return [1, Infinity];
    if (this.take('?')) return [0, 1];
    if (!this.take('{')) return undefined;
    const min = this.readNumber();
    const max = this.take(',') ? (this.peek() === '}' ? Infinity : this.readNumber()) : min;
    if (!this.take('}')) throw new Unacceptable('repeats such as {3}, {3,} or {3,5}');
    return [min, max];
  }

  private readNumber(): number {
    let digits = '';
    while (/^\d$/.test(this.peek())) digits += this.next();
    if (digits === '' || digits.length > 6) throw new Unacceptable('repeats such as {3}, {3,} or {3,5}');
    return Number(digits);
  }

  private readClass(): Node {
    const isNegated = this.take('^');
    const ranges: Range[] = [];
    while (!this.take(']')) {
      const from = this.readClassAtom();
      if (this.peek() !== '-' || this.peek(1) === ']') {
        ranges.push(...from);
        continue;
      }
      this.next();
      const [start, end] = [single(from), single(this.readClassAtom())];
      if (start > end) throw new Unacceptable('ranges from the smaller character to the larger');
      ranges.push([start, end]);
    }
    if (ranges.length === 0) throw new Unacceptable('something between [ and ]');
    return { kind: 'set', ranges: isNegated ? allBut(ranges) : ranges };
  }

  private readClassAtom(): Range[] {
    const character = this.next();
    if (character !== '\\') return [rangeOf(character)];
    return this.take('-') ? [rangeOf('-')] : this.readEscape();
  }

  private readEscape(): Range[] {
    const character = this.next();
    if (Object.hasOwn(CLASSES, character)) return CLASSES[character] ?? [];
    if (Object.hasOwn(CONTROLS, character)) return [[CONTROLS[character] ?? 0, CONTROLS[character] ?? 0]];
    if (SYNTAX.includes(character)) return [rangeOf(character)];
    const digits = character === 'u' ? Array.from({ length: 4 }, () => this.next()).join('') : '';
    if (/^(?![dD][89a-fA-F])[0-9a-fA-F]{4}$/.test(digits))
      return [[parseInt(digits, 16), parseInt(digits, 16)]];
    throw new Unacceptable(
      'after \\ one of d D w W s S t n v f r, four digits after u, or a character that needs escaping: no back references',
    );
  }

  private peek(ahead = 0): string {
    return this.characters[this.position + ahead] ?? '';
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.position++;
    return true;
  }

  private next(): string {
    const character = this.characters[this.position++];
    if (character === undefined)
      throw new Unacceptable('a closing ) or ] for each ( or [, and a character after \\');
    return character;
  }
}

function rangeOf(character: string): Range {
  const code = character.codePointAt(0) ?? 0;
  return [code, code];
}

function single(ranges: Range[]): number {
  const [[from, to] = [0, 1]] = ranges;
  if (ranges.length !== 1 || from !== to) throw new Unacceptable('single characters at both ends of a range');
  return from;
}
