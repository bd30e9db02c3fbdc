import { randomUUID } from 'node:crypto';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { ACCOUNT, type AwsResponse, type Principal } from '../wire/aws.ts';
import { userId } from '../iam/principals.ts';
import type { ApiSpec } from './apis.ts';
import type { RouteMatch } from './http-routes.ts';
import { requestTime } from './request-time.ts';

export interface GatewayRequest {
  method: string;
  /** Percent-decoded, as an HTTP API shows it to its functions. */
  path: string;
  /** As sent. */
  search: string;
  headers: Record<string, string>;
  body: Buffer;
  sourceIp: string;
  principal?: Principal;
}

/** The event of payload format 2.0. */
export function httpEvent(api: ApiSpec, match: RouteMatch, request: GatewayRequest, now: Date): object {
  const { cookie, ...headers } = request.headers;
  const text = isText(request.headers['content-type']);
  const query = joinedQuery(request.search);
  return {
    version: '2.0',
    routeKey: match.route.key,
    rawPath: request.path,
    rawQueryString: request.search,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/; */) }),
    headers,
    ...(Object.keys(query).length === 0 ? {} : { queryStringParameters: query }),
    ...(Object.keys(match.parameters).length === 0 ? {} : { pathParameters: match.parameters }),
    requestContext: {
      accountId: ACCOUNT,
      apiId: api.id,
      ...(request.principal === undefined ? {} : { authorizer: { iam: iamIdentity(request.principal) } }),
      domainName: request.headers['host'] ?? '',
      domainPrefix: api.id,
      http: {
        method: request.method,
        path: request.path,
        protocol: 'HTTP/1.1',
        sourceIp: request.sourceIp,
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: match.route.key,
      stage: api.stage,
      time: requestTime(now),
      timeEpoch: now.getTime(),
    },
    ...(request.body.length === 0 ? {} : { body: request.body.toString(text ? 'utf8' : 'base64') }),
    isBase64Encoded: request.body.length > 0 && !text,
  };
}

/** Of the connection, which is the gateway's affair. */
const HOP_HEADERS = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Reads a function's answer; one without a status code is the body itself. What is none says what is wrong. */
export function httpAnswer(payload: Buffer): AwsResponse | { problem: string } {
  const answer = JSON.parse(payload.toString('utf8')) as unknown;
  if (answer === null || typeof answer !== 'object' || !('statusCode' in answer)) {
    const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const { statusCode, headers = {}, cookies = [], body, isBase64Encoded } = answer as Record<string, unknown>;
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599)
    return { problem: `the invalid statusCode ${JSON.stringify(statusCode)}` };
  const sent = readHeaders(headers);
  if (sent === undefined) return { problem: 'headers that are not strings or contain invalid characters' };
  if (!Array.isArray(cookies) || !cookies.every((cookie) => isHeader('set-cookie', cookie)))
    return { problem: 'cookies that are not a list of strings' };
  if (body !== undefined && body !== null && typeof body !== 'string')
    return { problem: 'a body that is not a string; use JSON.stringify(…)' };
  return {
    status: statusCode,
    headers: body ? { 'content-type': 'text/plain;charset=UTF-8', ...sent } : sent,
    cookies: cookies as string[],
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

function readHeaders(headers: unknown): Record<string, string> | undefined {
  if (headers === null) return {};
  if (typeof headers !== 'object' || Array.isArray(headers)) return undefined;
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (!entries.every(([name, value]) => isHeader(name, value))) return undefined;
  const kept = entries.filter(([name]) => !HOP_HEADERS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function isHeader(name: string, value: unknown): boolean {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

function iamIdentity(principal: Principal): object {
  return {
    accessKey: 'local',
    accountId: ACCOUNT,
    callerId: userId(principal),
    cognitoIdentity: null,
    principalOrgId: null,
    userArn: principal.arn,
    userId: userId(principal),
  };
}

/** What an HTTP API passes on as text. All else arrives base64-encoded, forms and bodies without a type among it. */
function isText(contentType = ''): boolean {
  return /^(text\/|application\/(json|javascript|xml)\b(?![+.-]))/i.test(contentType);
}

function joinedQuery(search: string): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}
