// Messages that are no tasks at all. There is nobody to answer: they are dropped.

import { sampleOf } from './case.ts';

const good = () => JSON.stringify(sampleOf('oci'));
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

export const BODY_CASES: [name: string, body: string][] = [
  ['nothing', ''],
  ['a blank', ' '],
  ['null', 'null'],
  ['a number', '7'],
  ['a text', '"oci.launch"'],
  ['a list', '[]'],
  ['a list of tasks', `[${good()}]`],
  ['two tasks', good() + good()],
  ['an empty object', '{}'],
  ['half a task', good().slice(0, 200)],
  ['YAML', 'kind: oci.launch\nprivileged: true\n'],
  ['XML', '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'],
  ['a shell script', '#!/bin/sh\nid\n'],
  ['NaN as a number', good().replace('"fence":7', '"fence":NaN')],
  ['a comment in it', good().replace('{', '{/* x */')],
  ['a comma too many', good().replace(/\}$/, ',}')],
  ['a NUL in front', `\0${good()}`],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x22, 0x80, 0x7d]).toString()],
  ['a byte order mark', `\uFEFF${good()}`],
  ['an id that is none', JSON.stringify({ ...sampleOf('oci'), id: '../../x' })],
  ['no id', JSON.stringify({ ...sampleOf('oci'), id: undefined })],
  ['lists in lists', nested('[', ']', 100_000)],
  ['objects in objects', `${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}`],
  ['more than a task may have', JSON.stringify({ ...sampleOf('oci'), filler: 'x'.repeat(200 * 1024) })],
  ['more bytes than characters', JSON.stringify({ ...sampleOf('oci'), filler: '€'.repeat(70_000) })],
];
