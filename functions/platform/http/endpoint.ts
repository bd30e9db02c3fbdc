import * as v from 'valibot';
import { nameActor } from '../actor.ts';
import { isDenied } from '../aws-errors.ts';
import { type Change, decidingAgain, recordsOf } from '../data/change.ts';
import { commit, Conflict } from '../data/commit.ts';
import type { Context } from '../context.ts';
import { Refusal, refuse } from '../errors.ts';
import { countRefusal } from '../metrics.ts';
import { parseAll } from '../parse.ts';
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
  /** The codes it may refuse with, in addition to those of every route of its kind; for the OpenAPI document. */
  refusals?: readonly string[];
  /** Only for routes of the platform team: the refusal that shows a permission our own role lacks. */
  denied?: (detail: string) => Refusal;
  /** Whether the body may come as a form too, as OAuth 2.0 has it. */
  form?: boolean;
  /** The one member in which raw control characters are tolerated. */
  lenient?: string;
  /** Where the body may come in another notation too: its media type, what else it is called, and how it is read. */
  parseText?: { media: string; aliases: RegExp; parse: (text: string) => unknown };
}

export interface CommandSpec<P = unknown, Q = unknown, B = unknown> extends EndpointSpec<P, Q, B> {
  /** How the audit names it. */
  action: string;
  /** Creating is not idempotent by itself, so a key is required; for other commands it is optional. */
  idempotency?: 'required' | 'optional' | 'none';
}

export interface Endpoint {
  kind: 'query' | 'command' | 'report';
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

/** Reads and answers; changes nothing. One that takes a body is a POST: a dry run. */
export function query<P = object, Q = object, B = object>(
  spec: EndpointSpec<P, Q, B>,
  read: (ctx: Context, input: Input<P, Q, B>) => unknown,
): Endpoint {
  return {
    kind: 'query',
    spec,
    async run(ctx, request) {
      const input = readInput<P, Q, B>(spec, request, spec.body !== undefined);
      const found = await showingDenied(spec.denied, async () => read(ctx, input));
      const { body, headers } = found instanceof Document ? found : document(found, etagOf(found));
      const media = spec.media ? { 'content-type': spec.media } : undefined;
      return { status: spec.status ?? 200, headers: { ...media, ...headers }, body };
    },
  };
}

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

/**
 * What a host observes, over and over: exactly one conditional write, and no transaction, audit, receipt or event. What
 * follows from it, rarely, is committed as any decision (`commitDecision`).
 */
export function report<P = object, Q = object, B = object>(
  spec: EndpointSpec<P, Q, B>,
  record: (ctx: Context, input: Input<P, Q, B>) => Promise<Record<string, unknown>>,
): Endpoint {
  return {
    kind: 'report',
    spec,
    async run(ctx, request) {
      const body = await record(ctx, readInput<P, Q, B>(spec, request, true));
      const status = spec.status ?? 200;
      return { status, headers: {}, body: status === 204 ? undefined : body };
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
  const once = async (): Promise<Replyable> => {
    try {
      const change = await decide();
      const reply = replyOf(spec.status ?? 200, change);
      const about = { ...ctx, actor: change.actor ?? ctx.actor, sourceIp: request.sourceIp };
      if (change.refusal) {
        // A replay of a request that succeeded is not recorded as a refusal.
        const replay = keyed && (await replayOf(ctx, keyed));
        if (replay) return replay;
        await commit([...change.writes, ...recordsOf(about, spec.action, change)]);
        countRefusal(ctx.log, change.refusal.code);
        throw change.refusal;
      }
      const receipt = keyed ? [insertReceipt(nameActor(about.actor), keyed, reply, ctx.now())] : [];
      await commit([...change.writes, ...recordsOf(about, spec.action, change), ...receipt]);
      return reply;
    } catch (error) {
      // A request that is refused now may have succeeded before: then the first answer is repeated.
      const replay =
        keyed && (error instanceof Refusal || error instanceof Conflict)
          ? await replayOf(ctx, keyed)
          : undefined;
      if (replay) return replay;
      throw error;
    }
  };
  return show(await decidingAgain(once, refuse(keyed ? 'idempotency.in_flight' : 'request.conflict')));
}

async function replayOf(ctx: Context, keyed: Keyed): Promise<Replyable | undefined> {
  const replay = await findReplay(nameActor(ctx.actor), keyed, ctx.now());
  if (replay === 'other_body') throw refuse('idempotency.other_body');
  return replay === 'none' ? undefined : replay;
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

async function showingDenied<T>(denied: EndpointSpec['denied'], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw denied && isDenied(error) ? denied(error.message) : error;
  }
}
