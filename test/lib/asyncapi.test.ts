import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { default as formats } from 'ajv-formats';
import { load } from 'js-yaml';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { type Emitter, EVENTS, type Reactor } from '../../functions/events.ts';
import { EventView } from '../../functions/events/event-view.ts';
import { refuse } from '../../functions/events/problems.ts';
import type { EventKind } from '../../functions/platform/events.ts';
import { problemOf } from '../../functions/platform/http/problem.ts';
import { FeedEvent } from '../../functions/events/feed.ts';
import { buildAsyncapi } from '../../lib/asyncapi.ts';
import { exampleEvent } from '../../lib/asyncapi-events.ts';
import manifest from '../../package.json' with { type: 'json' };
import { faultsOf } from '../asyncapi-messages.ts';

const document = buildAsyncapi();
const rows: readonly (readonly [EventKind, Emitter, readonly Reactor[]])[] = EVENTS;
const types = rows.map(([{ type }]) => type);
const OF_SOCKET = ['subscribe', 'subscribed', 'event', 'problem'];

/** Every reference anywhere in the document. */
function refsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = '$ref' in part && typeof part.$ref === 'string' ? [part.$ref] : [];
  return [...own, ...Object.values(part).flatMap(refsIn)];
}

const found = (ref: string): unknown =>
  ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], document);

describe('the AsyncAPI document', () => {
  test('is valid', () => {
    // Its data alone: the code of this package has carried malware before.
    const schema = import.meta.resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false, allErrors: true });
    formats.default(ajv);
    ajv.validate(JSON.parse(readFileSync(new URL(schema), 'utf8')) as object, document);
    expect(ajv.errors).toBeNull();
  });

  test('is of the version of the package, and the same each time it is made', () => {
    expect(document.info.version).toBe(manifest.version);
    expect(JSON.stringify(buildAsyncapi())).toBe(JSON.stringify(document));
  });

  test('is kept as a file', () => {
    const kept = load(readFileSync('docs/asyncapi.yaml', 'utf8'));
    expect(kept, 'Renew it with: npm run schemas').toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('points only at what it has, and has only what is pointed at', () => {
    const refs = new Set(refsIn(document));
    for (const ref of refs) expect(found(ref), ref).toBeTypeOf('object');
    const kept = Object.entries(document.components).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect(kept.filter((ref) => !refs.has(ref))).toEqual([]);
  });

  test('says of an operation only what goes over its channel', () => {
    for (const { channel, messages = [], reply } of Object.values(document.operations)) {
      const { $ref: within } = reply?.channel ?? channel;
      for (const { $ref } of [...messages, ...(reply?.messages ?? [])])
        expect($ref.startsWith(`${within}/messages/`)).toBe(true);
    }
  });

  test('has every kind of event once, on the bus and over the socket', () => {
    const { messages, schemas } = document.components;
    expect(Object.keys(messages)).toEqual([...OF_SOCKET, ...types]);
    expect(Object.keys(schemas).filter((name) => name.includes('.'))).toEqual(types);
    expect(Object.keys(document.channels['bus']?.messages ?? {})).toEqual(types);
    const pushed = messages['event']?.payload.properties?.['event']?.oneOf?.map(({ $ref }) => $ref);
    expect(pushed).toEqual(types.map((type) => `#/components/schemas/${type}`));
  });

  test('tells of every member that events have, and which may be left out', () => {
    const { properties = {}, required = [] } = document.components.schemas['Event'] ?? {};
    for (const { entries } of [FeedEvent, EventView]) {
      expect(Object.keys(properties).sort()).toEqual(Object.keys(entries).sort());
      const always = Object.entries(entries).filter(([, { type }]) => type !== 'optional');
      expect(required.toSorted()).toEqual(always.map(([name]) => name).sort());
    }
  });
});

describe.each(rows.map((row) => [row[0].type, row] as const))('%s', (type, [kind, emitter, reactors]) => {
  const sample = exampleEvent(kind);

  test('names who says it, and who does something about it', () => {
    expect(document.components.messages[type]).toMatchObject({
      name: type,
      'x-emitted-by': emitter,
      'x-reacted-to-by': reactors,
    });
  });

  test('is shown as the platform itself would read it', () => {
    expect(v.parse(FeedEvent, sample)).toEqual(sample);
    expect(v.parse(EventView, sample)).toEqual(sample);
    expect(v.parse(kind.schema, sample['data'])).toEqual(sample['data']);
  });

  test.each([
    ['as it is', {}, true],
    ['of another type', { type: 'apps.other' }, false],
    ['of another version', { version: kind.version + 1 }, false],
    ['that says nothing', { data: {} }, false],
    ['without a number', { sequence: undefined }, false],
  ])('is told %s: %j', (_, other, isAccepted) => {
    const told = JSON.parse(JSON.stringify({ ...sample, ...other })) as unknown;
    expect(faultsOf(`schemas/${type}`, told).length === 0).toBe(isAccepted);
    const pushed = { type: 'event', event: told, cursor: 'MDAwMDAwMDAwMDAwMDAx' };
    expect(faultsOf('messages/event/payload', pushed).length === 0).toBe(isAccepted);
  });
});

describe('over the socket', () => {
  const problem = problemOf(refuse('message.invalid'), 'look-1');

  test.each([
    ['subscribe', { action: 'subscribe' }, true],
    ['subscribe', { action: 'subscribe', topic: 'x' }, false],
    ['subscribe', { action: 'listen' }, false],
    ['subscribed', { type: 'subscribed', position: 0, cursor: 'MDAwMDAwMDAwMDAwMDAw' }, true],
    ['subscribed', { type: 'subscribed', position: 0 }, false],
    ['problem', { type: 'problem', problem }, true],
    ['problem', { type: 'problem', problem: { ...problem, code: 'no.such' } }, false],
  ])('%s is told: %j', (name, told, isAccepted) => {
    expect(faultsOf(`messages/${name}/payload`, told).length === 0).toBe(isAccepted);
  });

  test.each(OF_SOCKET)('%s is shown as it is told', (name) => {
    for (const { payload } of document.components.messages[name]?.examples ?? [])
      expect(faultsOf(`messages/${name}/payload`, payload)).toEqual([]);
  });
});
