// Names in certificates, and as people write them: RFC 4514.

import { contentOf, type Element, identifierOf, sequenceOf, TAG, Unreadable } from './der.ts';

interface Attribute {
  /** An object identifier. */
  type: string;
  value: string;
  /** The value is not text we read, but its encoding in hexadecimal digits. */
  isEncoded?: true;
}

/** From the root down, as certificates have it; several attributes at one place are one part of it. */
export type DistinguishedName = Attribute[][];

const TYPES: Record<string, string> = {
  CN: '2.5.4.3',
  SERIALNUMBER: '2.5.4.5',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  UID: '0.9.2342.19200300.100.1.1',
  DC: '0.9.2342.19200300.100.1.25',
  EMAILADDRESS: '1.2.840.113549.1.9.1',
};
const NAMES = new Map(Object.entries(TYPES).map(([name, type]) => [type, name]));

export function readName(element: Element | undefined, what: string): DistinguishedName {
  return sequenceOf(element, what).map((part) => {
    if (part.tag !== TAG.set || part.children.length === 0) throw new Unreadable(`expected ${what} in sets`);
    return part.children.map((attribute) => {
      const [type, value, ...more] = sequenceOf(attribute, `an attribute of ${what}`);
      if (!value || more.length > 0) throw new Unreadable(`expected attributes of ${what} to be pairs`);
      return { type: identifierOf(type, `an attribute's type in ${what}`), ...readValue(value, what) };
    });
  });
}

function readValue(element: Element, what: string): Pick<Attribute, 'value' | 'isEncoded'> {
  const { tag, bytes } = element;
  switch (tag) {
    case TAG.utf8String:
      try {
        return { value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(element.content) };
      } catch {
        throw new Unreadable(`expected UTF-8 in ${what}`);
      }
    case TAG.printableString:
    case TAG.ia5String: {
      const value = contentOf(element, tag, what).toString('latin1');
      const shape = tag === TAG.ia5String ? /^[\0-\x7f]*$/ : /^[A-Za-z0-9 '()+,./:=?-]*$/;
      if (!shape.test(value)) throw new Unreadable(`expected the characters of its string type in ${what}`);
      return { value };
    }
    default:
      return { value: bytes.toString('hex'), isEncoded: true };
  }
}

/** RFC 4514 §2: the last part first. */
export function formatName(name: DistinguishedName): string {
  return name
    .toReversed()
    .map((part) => part.map(formatAttribute).join('+'))
    .join(',');
}

function formatAttribute({ type, value, isEncoded }: Attribute): string {
  const name = NAMES.get(type);
  if (name === undefined || isEncoded) {
    const hex = isEncoded ? value : Buffer.from(value).toString('hex');
    return `${name ?? type}=#${hex}`;
  }
  return `${name}=${escape(value)}`;
}

/** RFC 4514 §2.4: what would part the name, a blank at either end, and what a terminal would obey. */
function escape(value: string): string {
  const last = value.length - 1;
  return value.replace(/["+,;<>\\ #]|\p{Cc}/gu, (character, place: number) => {
    if (/\p{Cc}/u.test(character))
      return Buffer.from(character)
        .toString('hex')
        .replace(/../g, String.raw`\$&`);
    const isPlain = (character === ' ' && place > 0 && place < last) || (character === '#' && place > 0);
    return isPlain ? character : `\\${character}`;
  });
}

const ATTRIBUTE_CHARACTERS_MAX = 500;

/**
 * A name as a policy gives it; undefined where it is none. Blanks after a comma or a plus are no part of it, as they
 * would have to be escaped.
 */
export function parseName(text: string): DistinguishedName | undefined {
  const parts: DistinguishedName = [[]];
  let rest = text;
  for (;;) {
    const match = ATTRIBUTE.exec(rest);
    const type = TYPES[match?.groups?.['type']?.toUpperCase() ?? ''];
    const value = unescape(match?.groups?.['value'] ?? '');
    if (!match || type === undefined || value === undefined || value === '') return undefined;
    if (value.length > ATTRIBUTE_CHARACTERS_MAX) return undefined;
    parts.at(-1)?.push({ type, value });
    rest = rest.slice(match[0].length);
    if (rest === '') return parts.toReversed();
    if (rest.startsWith(',')) parts.push([]);
    rest = rest.slice(1).replace(/^ +/, '');
  }
}

// Up to a separator that is not escaped. A value begins with neither blank nor number sign, and ends in no blank.
const ATTRIBUTE =
  /^(?<type>[A-Za-z]+)=(?<value>(?![ #])(?:[^"+,;<>\\\0]|\\["+,;<>\\ #=]|\\[0-9A-Fa-f]{2})*)(?=$|[,+])/;

function unescape(value: string): string | undefined {
  if (/(?<!\\) $/.test(value)) return undefined;
  const bytes: Buffer[] = [];
  for (const [piece, special, hex] of value.matchAll(/\\(["+,;<>\\ #=])|\\([0-9A-Fa-f]{2})|[^\\]+/g))
    bytes.push(hex ? Buffer.from(hex, 'hex') : Buffer.from(special ?? piece));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(bytes));
  } catch {
    return undefined;
  }
}

/** Whether a name has everything another asks for; what is asked for at one place must be there at one place. */
export function hasName(name: DistinguishedName, wanted: DistinguishedName): boolean {
  return wanted.every((part) =>
    name.some((own) =>
      part.every(({ type, value }) =>
        own.some((each) => each.type === type && each.value === value && !each.isEncoded),
      ),
    ),
  );
}
