import * as v from 'valibot';
import { type Actor, nameActor } from './actor.ts';
import { insertAudit } from './audit.ts';
import { isDenied } from './aws-errors.ts';
import { commit, Conflict, type Write } from './commit.ts';
import type { Context } from './context.ts';
import { type ProblemCode, Refusal, refuse } from './errors.ts';
import { type DomainEvent, insertOutbox } from './events.ts';
import { parseAll } from './parse.ts';
import { findReplay, insertReceipt, type Replyable } from './receipts.ts';
import { parseBody, type Request } from './request.ts';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** An object is sent as JSON, text as it is. */
  body: unknown;
}

type Schema<T> = v.GenericSchema<unknown, T>;

export interface Input<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

/** What an endpoint takes and gives; the OpenAPI document is made of these. */
export interface EndpointSpec<P = unknown, Q = unknown, B = unknown> {
  summary: string;
  params?: Schema<P>;
  query?: Schema<Q>;
  body?: Schema<B>;
  /** The shape of the answer, for the document. */
  reply?: v.GenericSchema;
  status?: 200 | 201 | 202 | 204;
  /** The media type of an answer that is not JSON. */
  media?: string;
  /** What it may refuse with besides what every route of its kind may, for the document. */
  refusals?: ProblemCode[];
  /** Only on routes of the platform team: the code under which a grant our own role lacks is shown in full. */
  denied?: ProblemCode;
  /** Whether the body may come as a form too, as OAuth 2.0 has it. */
  form?: boolean;
  /** The one member in which raw control characters are tolerated. */
  lenient?: string;
}

export interface CommandSpec<P = unknown, Q = unknown, B = unknown> extends EndpointSpec<P, Q, B> {
  /** How the audit names it. */
  action: string;
  /** Creating twice is not the same as creating once, so a key is asked for; other commands may do without. */
  idempotency?: 'required' | 'optional' | 'none';
}

export interface Endpoint {
  kind: 'query' | 'command';
  spec: EndpointSpec & Partial<CommandSpec>;
  run(ctx: Context, request: Request): Promise<Reply>;
}

const NOTHING = v.strictObject({});

/** An answer with headers of its own, such as a page that may be cached. */
class Document {
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(body: unknown, headers: Record<string, string>) {
    this.body = body;
    this.headers = headers;
  }
}

export function document(body: unknown, headers: Record<string, string>): Document {
  return new Document(body, headers);
}

/** Reads and answers; changes nothing. */
export function query<P = object, Q = object>(
  spec: EndpointSpec<P, Q>,
  read: (ctx: Context, input: Omit<Input<P, Q, unknown>, 'body'>) => unknown,
): Endpoint {
  return {
    kind: 'query',
    spec,
    async run(ctx, request) {
      const input = readInput<P, Q, unknown>({ ...spec, body: undefined }, request, false);
      const found = await showingDenied(spec.denied, async () => read(ctx, input));
      const { body, headers } = found instanceof Document ? found : document(found, etagOf(found));
      const media = spec.media ? { 'content-type': spec.media } : undefined;
      return { status: spec.status ?? 200, headers: { ...media, ...headers }, body };
    },
  };
}

/** What a command has decided. Nothing of it has happened yet. */
export interface Change {
  /** What was changed, as the audit names it: `service_account:<id>`. */
  subject: string;
  before?: unknown;
  after?: unknown;
  reason?: string;
  writes: Write[];
  events?: DomainEvent[];
  reply: Record<string, unknown>;
  /** Members of the answer that must not be kept readable. */
  secrets?: Record<string, string>;
  headers?: Record<string, string>;
  location?: string;
  /** Who it was done by, where the request itself is how they proved who they are. */
  actor?: Actor;
  /** The place it belongs to, where the path names none. */
  place?: { org_id?: string; project_id?: string };
}

const ATTEMPTS_MAX = 4;

/** Decides; the change it returns is committed whole before anybody is told. */
export function command<P = object, Q = object, B = object>(
  spec: CommandSpec<P, Q, B>,
  decide: (ctx: Context, input: Input<P, Q, B>) => Change | Promise<Change>,
): Endpoint {
  const idempotency =
    spec.idempotency ?? (spec.status === 201 || spec.status === 202 ? 'required' : 'optional');
  return {
    kind: 'command',
    spec: { ...(spec as CommandSpec), idempotency },
    async run(ctx, request) {
      const { idempotencyKey } = request;
      if (idempotency === 'required' && idempotencyKey === undefined) throw refuse('idempotency.key_missing');
      const keyed =
        idempotency === 'none' || idempotencyKey === undefined ? undefined : { ...request, idempotencyKey };
      const input = readInput<P, Q, B>(spec, request, true);
      return showingDenied(spec.denied, () => attempt(ctx, spec, request, keyed, () => decide(ctx, input)));
    },
  };
}

type Keyed = Request & { idempotencyKey: string };

async function attempt<P, Q, B>(
  ctx: Context,
  spec: CommandSpec<P, Q, B>,
  request: Request,
  keyed: Keyed | undefined,
  decide: () => Change | Promise<Change>,
): Promise<Reply> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      const change = await decide();
      const reply = replyOf(spec.status ?? 200, change);
      const actor = change.actor ?? ctx.actor;
      const receipt = keyed ? [insertReceipt(nameActor(actor), keyed, reply, ctx.now())] : [];
      await commit([
        ...change.writes,
        ...recordsOf({ ...ctx, actor }, spec.action, request, change),
        ...receipt,
      ]);
      return show(reply);
    } catch (error) {
      // What is refused now may have been done before: the answer is then the first one, not the refusal.
      const replay =
        keyed && (error instanceof Refusal || error instanceof Conflict)
          ? await replayOf(ctx, keyed)
          : undefined;
      if (replay) return show(replay);
      if (!(error instanceof Conflict)) throw error;
      if (attempts === ATTEMPTS_MAX) throw refuse(keyed ? 'idempotency.in_flight' : 'request.conflict');
      await pause(attempts);
    }
  }
}

async function replayOf(ctx: Context, keyed: Keyed): Promise<Replyable | undefined> {
  const replay = await findReplay(nameActor(ctx.actor), keyed, ctx.now());
  if (replay === 'other_body') throw refuse('idempotency.other_body');
  return replay === 'none' ? undefined : replay;
}

/** The audit row and the outbox events of a change: derived, never written by hand. */
function recordsOf(ctx: Context, action: string, request: Request, change: Change): Write[] {
  const now = ctx.now();
  const at = now.toISOString();
  const place = change.place ?? { org_id: ctx.project?.org_id ?? ctx.org?.id, project_id: ctx.project?.id };
  const { subject, before, after, reason } = change;
  const about = { actor: nameActor(ctx.actor), correlation_id: ctx.correlationId };
  const email = ctx.actor.kind === 'user' ? ctx.actor.email : undefined;
  const audit = insertAudit({
    id: ctx.newId(),
    at,
    ...about,
    ...(email && { actor_email: email }),
    action,
    subject,
    before,
    after,
    reason,
    source_ip: request.sourceIp,
    ...place,
  });
  const events = (change.events ?? []).map((event) =>
    insertOutbox(
      { ...event, event_id: ctx.newId(), occurred_at: at, ...about, ...(event.place ?? place) },
      now,
    ),
  );
  return [audit, ...events];
}

function replyOf(status: number, change: Change): Replyable {
  const location = change.location ? { location: change.location } : undefined;
  const headers = { ...etagOf(change.reply), ...location, ...change.headers };
  return { status, headers, body: change.reply, ...(change.secrets && { secrets: change.secrets }) };
}

function show({ status, headers, body, secrets }: Replyable): Reply {
  return { status, headers, body: status === 204 ? undefined : { ...body, ...secrets } };
}

/** Things people edit carry a version; it is their entity tag. */
function etagOf(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null || !('version' in body)) return {};
  return typeof body.version === 'number' ? { etag: `"${body.version}"` } : {};
}

function readInput<P, Q, B>(spec: EndpointSpec<P, Q, B>, request: Request, hasBody: boolean): Input<P, Q, B> {
  return parseAll({
    params: { schema: spec.params ?? v.object({}), input: request.params, pointer: '' },
    query: { schema: spec.query ?? NOTHING, input: request.query, pointer: '?' },
    body: {
      schema: spec.body ?? NOTHING,
      input: hasBody ? parseBody(request, spec) : {},
      pointer: '',
    },
  }) as Input<P, Q, B>;
}

function pause(attempts: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempts));
}

async function showingDenied<T>(code: ProblemCode | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw code && isDenied(error) ? refuse(code, { detail: error.message }) : error;
  }
}
