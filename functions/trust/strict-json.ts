// JSON that can be read in one way only. RFC 8259 §4 leaves open what a member that stands twice means, and whoever
// signs may have read it the other way. Nothing here knows AWS.

import * as v from 'valibot';
import { Unreadable } from './der.ts';

export const JSON_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 64;

export function readJson(bytes: Uint8Array): unknown {
  if (bytes.length > JSON_BYTES_MAX) throw new Unreadable(`expected at most ${JSON_BYTES_MAX} bytes of JSON`);
  const { text, value } = parse(bytes);
  requirePlainMembers(text);
  return value;
}

/** Untrusted bytes as JSON; undefined unless they can be read in one way only. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes);
  } catch {
    return undefined;
  }
}

function parse(bytes: Uint8Array): { text: string; value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new Unreadable('expected JSON in UTF-8');
  }
}

/**
 * Each member once, and none that objects have of themselves: `constructor`, asked for, would always be there, and
 * checks of unknown members leave it out. In text that is JSON a string before a colon is a member's name.
 */
function requirePlainMembers(text: string): void {
  const open: Set<string>[] = [];
  for (const [token, string, colon] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)|[{}[\]]/g)) {
    if (open.length > DEPTH_MAX) throw new Unreadable(`expected JSON nested at most ${DEPTH_MAX} deep`);
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (string !== undefined && colon === ':') {
      const names = open.at(-1);
      const name = String(JSON.parse(string));
      if (names?.has(name)) throw new Unreadable('expected each JSON member only once');
      if (name in {} || name === 'prototype')
        throw new Unreadable('expected no JSON member with a reserved name');
      names?.add(name);
    }
  }
}

/** Of an object's schema: one that takes no list, which valibot would. */
export const plain = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value)),
    schema,
  );

/** Base64 (RFC 4648 §4, with padding) or base64url (§5, without), in the one spelling the bytes have. */
export function readBase64(text: string, encoding: 'base64' | 'base64url'): Buffer {
  const bytes = Buffer.from(text, encoding);
  if (bytes.toString(encoding) !== text) throw new Unreadable(`expected canonical ${encoding}`);
  return bytes;
}
