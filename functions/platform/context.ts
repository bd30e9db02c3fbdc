import { type Actor, ANONYMOUS, nameActor, type WithoutEmail } from './actor.ts';
import type { Authorized, ScopedNode, ScopedOrg, ScopedProject } from './scope.ts';
import { type Clock, systemClock } from './clock.ts';
import { refuse } from './errors.ts';
import { type CorrelationId, type NewId, newId } from './ids.ts';
import { createLog, type Log } from './log.ts';
import type { Grant } from './permissions.ts';
import { continueTrace, formatTrace } from './trace.ts';

/** What every entry shape hands to the work: who asks, where, under which id to find it again, what time it is. */
export interface Context {
  correlationId: CorrelationId;
  /** W3C Trace Context, for whatever this leads to: events, messages, workflows. */
  traceparent: string;
  actor: Actor;
  /** As remembered for a few seconds; `callerNow` reads them again. */
  grants: Grant[];
  reread?: Authorized['reread'];
  withoutEmail?: WithoutEmail;
  /** The place the path names; there on every route that names one. */
  project?: ScopedProject;
  org?: ScopedOrg;
  node?: ScopedNode;
  sourceIp?: string;
  /** The version the caller last saw, from If-Match. */
  ifMatch?: number;
  now: Clock;
  newId: NewId;
  log: Log;
}

const CORRELATION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The correlation id a caller sent, if it is valid: it identifies everything a request caused. */
export function correlationIdIn(sent: unknown): CorrelationId | undefined {
  return typeof sent === 'string' && CORRELATION_ID.test(sent) ? sent : undefined;
}

/** `traceparent` is that of whoever called, sent the message or asked for the work. */
export function createContext(correlationId: CorrelationId, traceparent?: unknown): Context {
  const trace = continueTrace(traceparent);
  const log = createLog({ correlation_id: correlationId, trace_id: trace.traceId, span_id: trace.spanId });
  return {
    correlationId,
    traceparent: formatTrace(trace),
    actor: ANONYMOUS,
    grants: [],
    now: systemClock,
    newId,
    log,
  };
}

export function withPrincipal(ctx: Context, authorized: Authorized): Context {
  const { actor, project, org } = authorized;
  const log = ctx.log.with({
    actor: nameActor(actor),
    org_id: project?.org_id ?? org?.id,
    project_id: project?.id,
  });
  return { ...ctx, ...authorized, log };
}

/** The project of a route that names one. */
export function projectOf({ project }: Context): ScopedProject {
  if (!project) throw refuse('project.unknown');
  return project;
}

export function orgOf({ org }: Context): ScopedOrg {
  if (!org) throw refuse('org.unknown');
  return org;
}

/** The node of a route by which a host speaks for itself. */
export function nodeOf({ node }: Context): ScopedNode {
  if (!node) throw refuse('node.unknown');
  return node;
}
