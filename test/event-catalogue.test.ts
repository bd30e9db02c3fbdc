import { handler as nodes } from '../functions/nodes/react-to-events.ts';
import { TRANSITION_EVENTS } from '../functions/promotion/status.ts';
import { toJsonSchema } from '@valibot/to-json-schema';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { handler as allocations } from '../functions/allocations/react-to-events.ts';
import { handler as artifacts } from '../functions/artifacts/react-to-events.ts';
import { handler as catalog } from '../functions/catalog/react-to-events.ts';
import { type Emitter, EVENTS, type Reactor } from '../functions/events.ts';
import type { EventKind } from '../functions/platform/events.ts';
import { handler as selftest } from '../functions/selftest/react-to-events.ts';
import { handler as tasks } from '../functions/tasks/react-to-events.ts';
import { ROOT } from '../lib/bundle.ts';

const REACTORS = { allocations, artifacts, catalog, nodes, selftest, tasks } satisfies Record<
  Reactor,
  { types: readonly string[] }
>;

const rows: readonly (readonly [EventKind, Emitter, readonly Reactor[]])[] = EVENTS;
const listed = rows.map(([{ type }]) => type);
const kinds = rows.map(([{ type, schema }, emitter]) => ({ type, schema, emitter }));

const sources = globSync('functions/**/*.ts', { cwd: ROOT }).map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), 'utf8'),
}));

describe('functions/events.ts', () => {
  test('names each type once', () => {
    expect(listed.toSorted()).toEqual([...new Set(listed)].sort());
  });

  test('names exactly the kinds there are in the code, each of which stands there once', () => {
    const made = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bevent\(\s*['"]([^'"`]*)/g)].map(([, type = '']) => type),
    );
    const transitions = sources.flatMap(({ text }) =>
      [...text.matchAll(/\btransitionEvents\(\s*'([^']*)/g)].flatMap(([, noun]) =>
        Object.values(TRANSITION_EVENTS).map((name) => `${noun}.${name}`),
      ),
    );
    expect([...made, ...transitions].sort()).toEqual(listed.toSorted());
  });

  test('names every emitter’s kinds together', () => {
    const emitters = rows.map(([, emitter]) => emitter);
    expect(emitters).toEqual(emitters.toSorted());
  });

  test.each(Object.entries(REACTORS))('says what %s reacts to', (reactor, { types }) => {
    const told = rows.filter(([, , reactors]) => reactors.includes(reactor as Reactor));
    expect(types.toSorted()).toEqual(told.map(([{ type }]) => type).sort());
  });
});

/** Every name there is in a schema, at any depth. */
const membersOf = (schema: unknown): string[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([key, value]) => [
        ...(key === 'properties' ? Object.keys(value as object) : []),
        ...membersOf(value),
      ]);

describe('the data of events', () => {
  test.each(kinds)('can be documented: $type', ({ schema }) => {
    expect(toJsonSchema(schema)).toMatchObject({ type: 'object', required: expect.any(Array) as unknown });
  });

  test.each(kinds)('names apps, versions and instances in one way: $type', ({ type, schema, emitter }) => {
    const ambiguous = new Set(['version', 'slug', 'instance_id']);
    // A policy's version is its revision, and organisations, projects and accounts have slugs of their own.
    if (type.startsWith('apps.trust.') || type === 'apps.promotion.policy_changed')
      ambiguous.delete('version');
    if (emitter === 'identity') ambiguous.delete('slug');
    expect(membersOf(toJsonSchema(schema)).filter((name) => ambiguous.has(name))).toEqual([]);
  });
});
