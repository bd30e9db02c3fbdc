// The audit as it is read: newest first, by who did what to what, and when.

import * as v from 'valibot';
import type { AuditRow } from '../platform/data/audit.ts';
import { AuditId, type CorrelationId, type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { Time } from '../platform/name.ts';

export const AuditView = v.object({
  id: AuditId,
  at: Time,
  actor: v.string(),
  actor_email: v.optional(v.string()),
  action: v.string(),
  subject: v.string(),
  before: v.optional(v.unknown()),
  after: v.optional(v.unknown()),
  reason: v.optional(v.string()),
  correlation_id: textOf<CorrelationId>(),
  source_ip: v.optional(v.string()),
  org_id: v.optional(textOf<OrgId>()),
  project_id: v.optional(textOf<ProjectId>()),
}) satisfies v.GenericSchema<unknown, AuditRow>;
export type AuditView = v.InferOutput<typeof AuditView>;

export const AuditPage = v.object({
  items: v.pipe(
    v.array(AuditView),
    v.description(
      'A page may have fewer items than requested, or none, although more follow: continue until next_cursor is null.',
    ),
  ),
  next_cursor: v.nullable(v.string()),
});

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(300));
const Instant = v.pipe(
  v.string(),
  v.maxLength(40),
  v.isoTimestamp(),
  v.transform((text) => new Date(text)),
  v.date(),
);

export const AuditQuery = v.strictObject({
  ...PageQuery,
  actor: v.optional(
    v.pipe(
      Text,
      v.description('The actor as audit rows name it: user:<id>, service_account:<id>, node:<id>.'),
    ),
  ),
  action: v.optional(Text),
  subject: v.optional(
    v.pipe(Text, v.description('The subject as audit rows name it: service_account:<id>, project:<id>.')),
  ),
  correlation_id: v.optional(
    v.pipe(Text, v.description('The X-Request-ID of the request that caused the change.')),
  ),
  from: v.optional(Instant),
  to: v.optional(Instant),
});

export type AuditFilter = Omit<v.InferOutput<typeof AuditQuery>, 'limit' | 'cursor'>;

/** A row's id is made just after its time is taken, so the ids of a span of time reach a little beyond it. */
const ID_LAG_MS = 60_000;

/** The first and last id that rows of this span of time may have; a row's own time decides (RFC 9562 §5.7). */
export function idsBetween({ from, to }: Pick<AuditFilter, 'from' | 'to'>): { first: string; last: string } {
  return {
    first: from ? idPrefix(from.getTime()) : '0',
    last: to ? `${idPrefix(to.getTime() + ID_LAG_MS)}~` : '~',
  };
}

const MS_MAX = 2 ** 48 - 1;

function idPrefix(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), MS_MAX).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The greatest text before an id, as the last of a range that ends before it. */
export function justBefore(id: AuditId): string {
  const end = id.length - 1;
  return `${id.slice(0, end)}${String.fromCharCode(id.charCodeAt(end) - 1)}~`;
}

/** Some rows of the audit, newest first. */
export interface AuditPart {
  rows: AuditView[];
  /** The row before which the next page begins; undefined at the end of the list. */
  next?: string;
}

/** A page of several lists as if they were one. */
export function mergeParts(parts: AuditPart[], limit: number): AuditPart {
  // The first to stop: what is older may be missing from its rows.
  const stop = parts
    .flatMap(({ next }) => next ?? [])
    .sort()
    .at(-1);
  const rows = parts
    .flatMap((part) => part.rows)
    .filter(({ id }) => stop === undefined || id >= stop)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? page.at(-1)?.id : stop;
  return { rows: page, ...(next !== undefined && { next }) };
}

export const ROW_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

const MONTHS_BACK_MAX = 24;

/** A month, and the row before which the next page begins. */
export interface MonthPosition {
  month: string;
  before?: string;
}

export const MONTH_POSITION = /^\d{4}-(?:0[1-9]|1[0-2])(?:\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})?$/;

export function readMonthPosition(text: string): MonthPosition {
  const [month = '', before] = text.split('/');
  return { month, ...(before && { before }) };
}

export function writeMonthPosition({ month, before }: MonthPosition): string {
  return before ? `${month}/${before}` : month;
}

/** Where the list over all places begins: at the end of the span asked for, or now. */
export function latestMonth({ to }: AuditFilter, now: Date): string {
  return monthOf(to && to < now ? to : now);
}

/** The month before, unless it is earlier than the requested time or than the oldest month that is searched. */
export function monthBefore(month: string, { from }: AuditFilter, now: Date): string | undefined {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const earlier = monthOf(new Date(Date.UTC(year, number - 2)));
  const earliest = monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS_BACK_MAX)));
  return earlier < earliest || (from && earlier < monthOf(from)) ? undefined : earlier;
}

function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}
