// One run of the self-test: a request that passes through every kind of connection of the platform and records a time
// at each hop.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { branded, type CorrelationId, SelftestId, textOf } from '../platform/ids.ts';
import { causeOf, type WorkflowError } from '../platform/workflow/workflow-error.ts';

/** In the order a healthy run passes them. The client adds `pushed`: only it knows when the verdict arrived. */
export const HOPS = ['accepted', 'streamed', 'started', 'dispatched', 'answered', 'finished'] as const;

export type Hop = (typeof HOPS)[number];

export type SelftestStatus = 'requested' | 'running' | 'passed' | 'failed';

/** The states a run may come from; a run is born `requested`, and `passed` and `failed` are final. */
export const PRECEDING = {
  running: ['requested'],
  passed: ['running'],
  failed: ['requested', 'running'],
} as const satisfies Record<Exclude<SelftestStatus, 'requested'>, readonly SelftestStatus[]>;

/** However a caller spells it. */
export const LowerSelftestId = branded<SelftestId>(v.pipe(v.string(), v.uuid(), v.toLowerCase()));

const Time = v.pipe(v.string(), v.isoTimestamp());

export const SelftestFailure = v.object({
  hop: v.picklist(HOPS),
  code: v.string(),
  detail: v.string(),
});

export type SelftestFailure = v.InferOutput<typeof SelftestFailure>;

export const Selftest = v.object({
  id: LowerSelftestId,
  status: v.picklist(['requested', 'running', 'passed', 'failed'] satisfies SelftestStatus[]),
  correlation_id: textOf<CorrelationId>(),
  traceparent: v.optional(v.string()),
  created_at: Time,
  deadline_at: Time,
  /** When the sweep started the execution in the reaction's place. */
  rescued_at: v.optional(Time),
  ended_at: v.optional(Time),
  hops: v.record(v.string(), Time),
  failure: v.optional(SelftestFailure),
});

export type Selftest = v.InferOutput<typeof Selftest>;

/** Longer than the workflow's own time-out, so the sweep never ends a run the workflow still may. */
export const DEADLINE_SECONDS = 300;

const DETAIL_CHARACTERS_MAX = 1_000;

export function planSelftest(
  id: SelftestId,
  { correlationId, traceparent }: { correlationId: CorrelationId; traceparent?: string },
  now: Date,
): Selftest {
  return {
    id,
    status: 'requested',
    correlation_id: correlationId,
    traceparent,
    created_at: now.toISOString(),
    deadline_at: secondsAfter(now, DEADLINE_SECONDS).toISOString(),
    hops: { accepted: now.toISOString() },
  };
}

export const SelftestRequested = event(
  'selftest.requested',
  1,
  v.object({ selftest_id: SelftestId }),
  ({ id }: Selftest) => ({ selftest_id: id }),
);

/** Received over the socket, this is the last hop: only the client knows that it arrived. */
export const SelftestEnded = event(
  'selftest.ended',
  1,
  v.object({
    selftest_id: SelftestId,
    status: v.picklist(['passed', 'failed']),
    failure: v.optional(v.object({ hop: v.picklist(HOPS), code: v.string() })),
  }),
  (id: SelftestId, verdict: SelftestVerdict) => ({ selftest_id: id, ...verdict }),
);

export const subjectOfSelftest = (id: SelftestId): string => `selftest:${id}`;

export function isEnded({ status }: Pick<Selftest, 'status'>): boolean {
  return status === 'passed' || status === 'failed';
}

/** `finished` is left out: it is the verdict itself. */
export function missingHops({ hops }: Pick<Selftest, 'hops'>): Hop[] {
  return HOPS.filter((hop) => hop !== 'finished' && !hops[hop]);
}

export type SelftestVerdict = { status: 'passed' } | { status: 'failed'; failure: SelftestFailure };

/** A run passes only if every hop left its mark, however the workflow came to its end. */
export function judgeSelftest(run: Selftest, error?: WorkflowError): SelftestVerdict {
  const [missing] = missingHops(run);
  const hop = missing ?? 'finished';
  if (error) return { status: 'failed', failure: failureAt(hop, error.Error, causeOf(error)) };
  if (!missing) return { status: 'passed' };
  return {
    status: 'failed',
    failure: failureAt(hop, 'selftest.hop_missing', `The run never reached “${hop}”.`),
  };
}

export type Repair = 'wait' | 'start' | 'fail';

/** A run nobody started is started once in the reaction's place, and given the same time again. */
export function repairOf(run: Selftest, now: Date): Repair {
  if (isEnded(run) || now < new Date(run.deadline_at)) return 'wait';
  if (run.status === 'running') return 'fail';
  if (!run.rescued_at) return 'start';
  return now < secondsAfter(new Date(run.rescued_at), DEADLINE_SECONDS) ? 'wait' : 'fail';
}

export function stalled(run: Selftest): SelftestFailure {
  const hop = missingHops(run)[0] ?? 'finished';
  return failureAt(hop, 'selftest.stalled', `The run did not reach “${hop}” before its deadline.`);
}

export function failureAt(hop: Hop, code: string, detail: string): SelftestFailure {
  return { hop, code, detail: detail.slice(0, DETAIL_CHARACTERS_MAX) };
}

export const SelftestView = v.object({
  id: textOf<SelftestId>(),
  status: v.picklist(['requested', 'running', 'passed', 'failed'] satisfies SelftestStatus[]),
  created_at: v.string(),
  ended_at: v.optional(v.string()),
  hops: v.array(v.object({ hop: v.picklist(HOPS), at: v.string(), offset_ms: v.number() })),
  failure: v.optional(SelftestFailure),
});

export type SelftestView = v.InferOutput<typeof SelftestView>;

export function viewSelftest(run: Selftest): SelftestView {
  const begun = Date.parse(run.created_at);
  const hops = HOPS.flatMap((hop) => {
    const at = run.hops[hop];
    return at ? [{ hop, at, offset_ms: Date.parse(at) - begun }] : [];
  });
  const { id, status, created_at, ended_at, failure } = run;
  return { id, status, created_at, ...(ended_at && { ended_at }), hops, ...(failure && { failure }) };
}
