// What happens on the platform, as events tell it.

import * as v from 'valibot';
import { type CorrelationId, type EventId, type OrgId, type ProjectId, textOf } from './ids.ts';

/** What an event says, as plain data: the AsyncAPI document is made of it. */
export type DataSchema = v.GenericSchema<Record<string, unknown>>;

/** The place an event belongs to, where that is not the request's own. */
interface EventPlace {
  org_id?: OrgId;
  project_id?: ProjectId;
}

/** Something that happened, as a domain says it. Everything else about it is known from the request. */
export interface DomainEvent {
  type: string;
  version: number;
  place?: EventPlace;
  data: Record<string, unknown>;
}

/** One kind of event. Called with what it tells of, it makes one. */
export interface EventKind<
  T extends string = string,
  S extends DataSchema = DataSchema,
  A extends unknown[] = never[],
> {
  readonly type: T;
  readonly version: number;
  readonly schema: S;
  (...about: A): DomainEvent;
}

/**
 * Names a kind of event, and what it says. `tell` takes that from the thing it is about. Nothing else gets into the
 * event: members the schema does not name are left out. Every kind is listed in functions/events.ts.
 */
export function event<T extends string, S extends DataSchema>(
  type: T,
  version: number,
  schema: S,
): EventKind<T, S, [data: v.InferInput<S>]>;
export function event<T extends string, S extends DataSchema, A extends unknown[]>(
  type: T,
  version: number,
  schema: S,
  tell: (...about: A) => v.InferInput<S>,
): EventKind<T, S, A>;
export function event<T extends string, S extends DataSchema>(
  type: T,
  version: number,
  schema: S,
  tell: (...about: unknown[]) => unknown = (data) => data,
): EventKind<T, S, unknown[]> {
  const make = (...about: unknown[]): DomainEvent => ({
    type,
    version,
    data: v.parse(schema, tell(...about)),
  });
  return Object.assign(make, { type, version, schema });
}

/** An event as the outbox holds it. The relay adds `sequence` when it puts it on the feed. */
export const PlatformEvent = v.object({
  event_id: textOf<EventId>(),
  type: v.string(),
  version: v.number(),
  occurred_at: v.string(),
  actor: v.string(),
  correlation_id: textOf<CorrelationId>(),
  /** W3C Trace Context of the change that said it. */
  traceparent: v.optional(v.string()),
  org_id: v.optional(textOf<OrgId>()),
  project_id: v.optional(textOf<ProjectId>()),
  data: v.record(v.string(), v.unknown()),
});
export type PlatformEvent = v.InferOutput<typeof PlatformEvent>;

/** An event of one kind, as a reaction gets it. */
export type EventOf<K extends EventKind> = Omit<PlatformEvent, 'type' | 'data'> & {
  type: K['type'];
  data: v.InferOutput<K['schema']>;
};
