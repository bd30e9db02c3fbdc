import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { EndpointSpec } from './endpoint.ts';
import { refuse } from '../errors.ts';
import { sourceIpOf } from './source-ip.ts';

const BODY_BYTES_MAX = 256 * 1024;
const KEY = /^[\x21-\x7e]{1,255}$/;
const VERSION = /^"(\d{1,12})"$/;

/** A request as endpoints see it. */
export interface Request {
  route: string;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  /** Undefined when there is none. */
  bodyText: string | undefined;
  contentType: string;
  idempotencyKey: string | undefined;
  /** The version the caller last saw, from If-Match. */
  ifMatch: number | undefined;
  sourceIp: string;
}

export function readRequest(event: APIGatewayProxyEventV2): Request {
  // A read ignores body, idempotency key and precondition, so they are not validated.
  const isRead = event.routeKey.startsWith('GET ');
  const header = (name: string): string | undefined => (isRead ? undefined : event.headers[name]);
  return {
    route: event.routeKey,
    params: event.pathParameters ?? {},
    query: event.queryStringParameters ?? {},
    bodyText: isRead ? undefined : readBody(event),
    contentType: header('content-type') ?? '',
    idempotencyKey: readKey(header('x-idempotency-key') ?? header('idempotency-key')),
    ifMatch: readVersion(header('if-match')),
    sourceIp: sourceIpOf(event),
  };
}

/** JSON, or nothing for an empty body. Where `lenient` names a member, raw control characters may stand in it. */
export function parseBody(
  { bodyText, contentType }: Request,
  { lenient, form, parseText }: Pick<EndpointSpec, 'lenient' | 'form' | 'parseText'>,
): unknown {
  if (bodyText === undefined || bodyText.trim() === '') return {};
  if (parseText && (contentType.startsWith(parseText.media) || parseText.aliases.test(contentType)))
    return parseText.parse(bodyText);
  if (form && /^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    return Object.fromEntries(new URLSearchParams(bodyText));
  }
  if (!/^application\/([\w.-]+\+)?json\b/i.test(contentType)) throw refuse('request.media_type');
  try {
    return JSON.parse(bodyText);
  } catch {
    if (lenient === undefined) throw refuse('request.malformed');
  }
  try {
    return JSON.parse(escapeControls(bodyText, lenient));
  } catch {
    throw refuse('request.malformed');
  }
}

function readBody(event: APIGatewayProxyEventV2): string | undefined {
  if (event.body === undefined) return undefined;
  const bytes = Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > BODY_BYTES_MAX) throw refuse('request.too_large');
  const { 'content-encoding': coding = 'identity' } = event.headers;
  if (coding.toLowerCase() !== 'identity' || !isUtf8(bytes)) throw refuse('request.encoding');
  return bytes.toString('utf8');
}

function readKey(key: string | undefined): string | undefined {
  if (key !== undefined && !KEY.test(key)) throw refuse('idempotency.key_invalid');
  return key;
}

function readVersion(tag: string | undefined): number | undefined {
  if (tag === undefined || tag === '*') return undefined;
  const version = VERSION.exec(tag)?.[1];
  if (version === undefined) throw refuse('precondition.failed');
  return Number(version);
}

// The quickstart's shell puts a PEM into the JSON with its newlines as they are.
function escapeControls(text: string, member: string): string {
  const value = new RegExp(`("${member}"\\s*:\\s*")([^"]*)(")`);
  return text.replace(
    value,
    (_, before: string, inner: string, after: string) =>
      before + inner.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t') + after,
  );
}
