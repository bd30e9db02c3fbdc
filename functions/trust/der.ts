// A reader of DER (X.690 §10): the one spelling each value has, and no other. It reads to the leaves before anything
// is made of it, with bounds, because whoever sends a signature chooses these bytes. Nothing here knows AWS.

const BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 16;
const ELEMENTS_MAX = 2_000;

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

/** The tag of `[n] EXPLICIT`. */
export const contextTag = (number: number): number => CONTEXT | CONSTRUCTED | number;

export interface Element {
  tag: number;
  /** The whole element, as it was signed. */
  bytes: Buffer;
  content: Buffer;
  /** Of a constructed one. */
  children: Element[];
}

/** The bytes are not what they should be; says what was expected, never what was there. */
export class Unreadable extends Error {
  override name = 'Unreadable';
}

/** Exactly one element. */
export function readDer(bytes: Uint8Array): Element {
  if (bytes.length > BYTES_MAX) throw new Unreadable(`expected at most ${BYTES_MAX} bytes of DER`);
  const left = { count: ELEMENTS_MAX };
  const [element, ...more] = readAll(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    DEPTH_MAX,
    left,
  );
  if (!element || more.length > 0) throw new Unreadable('expected one DER element and nothing after it');
  return element;
}

function readAll(bytes: Buffer, depth: number, left: { count: number }): Element[] {
  if (depth === 0) throw new Unreadable(`expected DER nested at most ${DEPTH_MAX} deep`);
  const elements: Element[] = [];
  for (let offset = 0; offset < bytes.length;) {
    left.count -= 1;
    if (left.count < 0) throw new Unreadable(`expected at most ${ELEMENTS_MAX} DER elements`);
    const element = readOne(bytes.subarray(offset), depth, left);
    elements.push(element);
    offset += element.bytes.length;
  }
  return elements;
}

function readOne(bytes: Buffer, depth: number, left: { count: number }): Element {
  const tag = bytes[0] ?? 0;
  // No field of a certificate has a tag of several bytes, and 0 ends lengths that DER does not have.
  if ((tag & 0x1f) === 0x1f || tag === 0) throw new Unreadable('expected DER tags of one byte');
  const { length, from } = readLength(bytes);
  const content = bytes.subarray(from, from + length);
  if (content.length !== length) throw new Unreadable('expected as many bytes as the DER length states');
  const children = tag & CONSTRUCTED ? readAll(content, depth - 1, left) : [];
  const element = { tag, bytes: bytes.subarray(0, from + length), content, children };
  requireCanonical(element);
  return element;
}

/** X.690 §10.1: in as few bytes as can be. */
function readLength(bytes: Buffer): { length: number; from: number } {
  const first = bytes[1];
  if (first === undefined) throw new Unreadable('expected a DER length');
  if (first < 0x80) return { length: first, from: 2 };
  const count = first & 0x7f;
  if (count === 0 || count > 3 || bytes.length < 2 + count)
    throw new Unreadable('expected a definite DER length');
  const length = bytes.readUIntBE(2, count);
  const needed = length < 0x80 ? 0 : Math.ceil((32 - Math.clz32(length)) / 8);
  if (needed !== count) throw new Unreadable('expected the shortest DER length');
  return { length, from: 2 + count };
}

function requireCanonical({ tag, content, children }: Element): void {
  switch (tag) {
    case TAG.boolean:
      if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) fail('a DER boolean');
      return;
    case TAG.integer:
      if (!isShortest(content)) fail('the shortest DER integer');
      return;
    case TAG.bitString:
      readBits(content);
      return;
    case TAG.null:
      if (content.length > 0) fail('an empty DER null');
      return;
    case TAG.objectIdentifier:
      readIdentifier(content);
      return;
    case TAG.set:
      if (!isSorted(children)) fail('the parts of a DER set in order');
      return;
    default:
      // Strings and times in pieces, a sequence or a set in one: BER, not DER.
      if ((tag & 0xc0) === 0 && !UNIVERSAL.has(tag)) fail('a DER type that certificates use');
  }
}

const UNIVERSAL = new Set<number>([
  ...Object.values(TAG),
  // Other strings a name may be in, and enumerations: never looked into.
  0x0a,
  0x12,
  0x14,
  0x1a,
  0x1c,
  0x1e,
]);

function isShortest(content: Buffer): boolean {
  const [first, second] = content;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !(first === 0 && second < 0x80) && !(first === 0xff && second >= 0x80);
}

function isSorted(elements: Element[]): boolean {
  return elements.every((element, index) => {
    const before = elements[index - 1];
    return before === undefined || Buffer.compare(before.bytes, element.bytes) < 0;
  });
}

function fail(expected: string): never {
  throw new Unreadable(`expected ${expected}`);
}

/** The parts of a sequence, which must be one. */
export function sequenceOf(element: Element | undefined, what: string): Element[] {
  if (element?.tag !== TAG.sequence) return fail(`${what} as a sequence`);
  return element.children;
}

/** The content of an element that must have this tag. */
export function contentOf(element: Element | undefined, tag: number, what: string): Buffer {
  if (element?.tag !== tag) return fail(what);
  return element.content;
}

/** `1.2.840.10045.2.1`. */
export function identifierOf(element: Element | undefined, what: string): string {
  return readIdentifier(contentOf(element, TAG.objectIdentifier, what));
}

function readIdentifier(content: Buffer): string {
  const arcs: number[] = [];
  let arc = 0;
  let isBegun = false;
  for (const byte of content) {
    if (!isBegun && byte === 0x80) fail('the shortest object identifier');
    arc = arc * 0x80 + (byte & 0x7f);
    if (arc > Number.MAX_SAFE_INTEGER / 0x80) fail('an object identifier of small numbers');
    isBegun = (byte & 0x80) !== 0;
    if (isBegun) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first, ...rest] = arcs;
  if (first === undefined || isBegun) return fail('a complete object identifier');
  // X.690 §8.19.4: the first two arcs share a number.
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...rest].join('.');
}

/** The bits of a bit string that is whole bytes: a key, a signature. */
export function bytesOf(element: Element | undefined, what: string): Buffer {
  const { bytes, unused } = readBits(contentOf(element, TAG.bitString, what));
  if (unused > 0) fail(`${what} of whole bytes`);
  return bytes;
}

/** No list of named bits in a certificate has more. */
const NAMED_BYTES_MAX = 4;

/** The bits that are set in a list of named ones, which X.690 §11.2.2 has end with the last of them. */
export function namedBitsOf(element: Element | undefined, what: string): Set<number> {
  const { bytes, unused } = readBits(contentOf(element, TAG.bitString, what));
  if (bytes.length > NAMED_BYTES_MAX) fail(`${what} of at most ${8 * NAMED_BYTES_MAX} bits`);
  const last = bytes.at(-1);
  if (last !== undefined && ((last >> unused) & 1) === 0) fail(`${what} without trailing zero bits`);
  const set = new Set<number>();
  for (const [index, byte] of bytes.entries())
    for (let bit = 0; bit < 8; bit += 1) if (byte & (0x80 >> bit)) set.add(index * 8 + bit);
  return set;
}

function readBits(content: Buffer): { bytes: Buffer; unused: number } {
  const unused = content[0];
  const bytes = content.subarray(1);
  if (unused === undefined || unused > 7 || (bytes.length === 0 && unused > 0)) return fail('a bit string');
  if (((bytes.at(-1) ?? 0) & ((1 << unused) - 1)) !== 0) fail('a bit string whose unused bits are zero');
  return { bytes, unused };
}

/** A boolean that DER spells out only where it is true, as its default is false. */
export function isTrue(element: Element, what: string): boolean {
  if (contentOf(element, TAG.boolean, what)[0] !== 0xff) fail(`${what} omitted when it is false`);
  return true;
}

/** A number of things that is not negative. */
export function countOf(element: Element, what: string): number {
  const content = contentOf(element, TAG.integer, what);
  if (content.length > 4 || (content[0] ?? 0) >= 0x80) fail(what);
  return content.readUIntBE(0, content.length);
}

/** RFC 5280 §4.1.2.5: UTC, to the second; years until 2049 in two digits. */
export function timeOf(element: Element | undefined, what: string): Date {
  const isShort = element?.tag === TAG.utcTime;
  const text = contentOf(element, isShort ? TAG.utcTime : TAG.generalizedTime, what).toString('latin1');
  const digits = (isShort ? /^\d{12}Z$/ : /^\d{14}Z$/).test(text) ? text : fail(what);
  const full = isShort ? `${Number(digits.slice(0, 2)) < 50 ? '20' : '19'}${digits}` : digits;
  if (!isShort && full < '2050') fail(`${what} in the format for its year`);
  const at = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const time = new Date(at);
  // A day the month does not have would otherwise pass for one of the next.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== at) fail(what);
  return time;
}
