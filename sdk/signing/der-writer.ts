// What X.509 is written in: ITU-T X.690, the distinguished rules. Only what a certificate and a signature need.

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const PRINTABLE_STRING = 0x13;
const IA5_STRING = 0x16;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;
/** Tag classes, X.690 8.1.2. */
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

const TEXT_TAGS = { utf8: UTF8_STRING, printable: PRINTABLE_STRING, ia5: IA5_STRING };

function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

/** X.690 8.1.3: one byte below 128, else their number and then they. */
function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = bytesOf(BigInt(length));
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

function bytesOf(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

export const sequence = (...parts: Uint8Array[]): Buffer => tagged(SEQUENCE, Buffer.concat(parts));

/** X.690 11.6: what stands in a set stands in the order of its bytes. */
export const set = (...parts: Buffer[]): Buffer =>
  tagged(SET, Buffer.concat(parts.sort((one, other) => one.compare(other))));

/** A number that is not negative, from its bytes: no leading zeros, but one where the first bit would be a sign. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  const isSigned = ((digits[0] ?? 0) & 0x80) !== 0;
  return tagged(INTEGER, isSigned ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

export const small = (value: number): Buffer => integer(bytesOf(BigInt(value)));

export const yes = (): Buffer => Buffer.from([0x01, 0x01, 0xff]);

export const nothing = (): Buffer => Buffer.from([0x05, 0x00]);

export const octets = (content: Uint8Array): Buffer => tagged(OCTET_STRING, content);

export const bits = (content: Uint8Array, unused = 0): Buffer =>
  tagged(BIT_STRING, Buffer.concat([Buffer.from([unused]), content]));

export const text = (value: string, kind: keyof typeof TEXT_TAGS = 'utf8'): Buffer =>
  tagged(TEXT_TAGS[kind], Buffer.from(value, 'utf8'));

/** Tagged by its place, as fields are that may be left out. */
export const explicit = (place: number, content: Uint8Array): Buffer =>
  tagged(CONTEXT | CONSTRUCTED | place, content);
export const implicit = (place: number, content: Uint8Array): Buffer => tagged(CONTEXT | place, content);

/** X.690 8.19, from dotted digits. */
export function objectId(dotted: string): Buffer {
  const [first = 0n, second = 0n, ...rest] = dotted.split('.').map(BigInt);
  return tagged(OBJECT_ID, Buffer.concat([first * 40n + second, ...rest].map(baseOneTwentyEight)));
}

function baseOneTwentyEight(arc: bigint): Buffer {
  const bytes = [Number(arc & 0x7fn)];
  for (let left = arc >> 7n; left > 0n; left >>= 7n) bytes.unshift(0x80 | Number(left & 0x7fn));
  return Buffer.from(bytes);
}

/** RFC 5280 4.1.2.5: two digits of the year until 2049, four from 2050 on, never a fraction of a second. */
export function time(at: Date): Buffer {
  const stamp = at.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050
    ? tagged(UTC_TIME, Buffer.from(stamp.slice(2)))
    : tagged(GENERALIZED_TIME, Buffer.from(stamp));
}
