// Names of people and machines in certificates: from the way they are written, RFC 4514, to the way they are encoded,
// RFC 5280 4.1.2.4.

import { objectId, sequence, set, text } from './der-writer.ts';

/** RFC 4514 3. */
const ATTRIBUTES: Record<string, string> = {
  CN: '2.5.4.3',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  C: '2.5.4.6',
  STREET: '2.5.4.9',
  DC: '0.9.2342.19200300.100.1.25',
  UID: '0.9.2342.19200300.100.1.1',
};

/** RFC 5280 appendix A: a country is two plain letters, a domain's label is ASCII. */
const TEXT_KINDS: Record<string, 'printable' | 'ia5'> = { C: 'printable', DC: 'ia5' };

/** `CN=release,O=Example,C=US`: written from the smallest to the largest, encoded the other way round. */
export function encodeName(name: string): Buffer {
  const parts = splitUnescaped(name, ',').filter((part) => part.trim() !== '');
  return sequence(...parts.toReversed().map((part) => set(...splitUnescaped(part, '+').map(encodePair))));
}

function encodePair(pair: string): Buffer {
  const equals = pair.indexOf('=');
  const type = pair.slice(0, equals).trim();
  const oid = ATTRIBUTES[type.toUpperCase()] ?? type;
  if (equals < 1 || !/^[0-2](?:\.\d+)+$/.test(oid)) {
    const known = Object.keys(ATTRIBUTES).join(', ');
    throw new Error(`“${pair.trim()}” is not a valid part of a name. Write type=value with one of ${known}.`);
  }
  return sequence(
    objectId(oid),
    text(unescape(pair.slice(equals + 1).trim()), TEXT_KINDS[type.toUpperCase()]),
  );
}

function splitUnescaped(value: string, separator: string): string[] {
  const parts = [''];
  for (const [piece] of value.matchAll(/\\.|[^\\]/gsu)) {
    if (piece === separator) parts.push('');
    else parts.push(`${parts.pop()}${piece}`);
  }
  return parts;
}

/** RFC 4514 2.4: a backslash stands before a character, or before two digits that are a byte of UTF-8. */
function unescape(value: string): string {
  const bytes = value.matchAll(/\\([0-9a-f]{2})|\\?(.)/gisu);
  return Buffer.concat(
    [...bytes].map(([, hex, character]) =>
      hex === undefined ? Buffer.from(character ?? '') : Buffer.from(hex, 'hex'),
    ),
  ).toString('utf8');
}
