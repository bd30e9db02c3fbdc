import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler } from '../../functions/docs/api.ts';
import { curlOf } from '../../functions/docs/curl.ts';
import type { OpenapiDocument, Operation, Schema } from '../../functions/docs/document.ts';
import { docsEndpoints } from '../../functions/docs/endpoints.ts';
import { fieldsOf, rulesOf } from '../../functions/docs/fields.ts';
import { packText } from '../../functions/docs/packed-text.ts';
import { renderPage } from '../../functions/docs/page.ts';
import { createContext } from '../../functions/platform/context.ts';
import type { Request } from '../../functions/platform/http/request.ts';
import { routes } from '../../functions/routes.ts';
import { buildAsyncapi } from '../../lib/asyncapi.ts';
import { ROOT } from '../../lib/bundle.ts';
import { buildOpenapi } from '../../lib/openapi.ts';

const described = buildOpenapi();
const text = JSON.stringify(described);
const asyncapi = JSON.stringify(buildAsyncapi());

beforeAll(() => {
  // The bundler puts the texts into these places.
  vi.stubGlobal('OPENAPI_DOCUMENT', packText(text));
  vi.stubGlobal('ASYNCAPI_DOCUMENT', packText(asyncapi));
});

afterAll(() => {
  vi.unstubAllGlobals();
});

function ask(name: keyof typeof docsEndpoints, query: Record<string, unknown> = {}) {
  const request: Request = {
    route: '',
    params: {},
    query,
    bodyText: undefined,
    contentType: '',
    idempotencyKey: undefined,
    ifMatch: undefined,
    sourceIp: '203.0.113.1',
  };
  return docsEndpoints[name].run(createContext('look-1'), request);
}

const operations: [string, string, Operation][] = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
    method,
    path,
    operation,
  ]),
);

interface Tag {
  name: string;
  attributes: Record<string, string>;
}

const VOID = new Set(['meta', 'br', 'link', 'img', 'input']);

/** The tags of a page, in order; throws where one is not closed or not written properly. */
function readTags(page: string): Tag[] {
  const open: string[] = [];
  const tags: Tag[] = [];
  const markup = page.replace(/^<!doctype html>/, '').replace(/<style>[^<]*<\/style>/, '');
  const pattern = /<(\/?)([a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>?/g;
  for (const [whole, close, name = '', rest = ''] of markup.matchAll(pattern)) {
    if (!whole.endsWith('>') || name === '') throw new Error(`Not a tag: ${whole}`);
    if (close) {
      if (open.pop() !== name) throw new Error(`${name} is closed, but was not open last.`);
      continue;
    }
    if (!VOID.has(name)) open.push(name);
    const attributes = [...rest.matchAll(/([a-z-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]);
    tags.push({ name, attributes: Object.fromEntries(attributes) as Record<string, string> });
  }
  if (open.length > 0) throw new Error(`Never closed: ${open.join(', ')}`);
  return tags;
}

const unescaped = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

describe('a document, asked for', () => {
  test.each([
    ['getOpenapi', text],
    ['getAsyncapi', asyncapi],
  ] as const)('%s is the one that was built, as JSON that may be kept a while', async (name, built) => {
    const { status, headers, body } = await ask(name);
    expect(status).toBe(200);
    expect(body).toBe(built);
    expect(headers).toEqual({
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"[\w-]{43}"$/) as unknown,
    });
  });

  test.each(Object.keys(docsEndpoints) as (keyof typeof docsEndpoints)[])(
    '%s takes no query',
    async (name) => {
      await expect(ask(name, { surprise: 'x' })).rejects.toMatchObject({ code: 'request.invalid' });
    },
  );
});

describe('the schema of manifests', () => {
  test('is the file, as a JSON Schema that may be kept a while', async () => {
    const { status, headers, body } = await ask('getManifestSchema');
    expect(status).toBe(200);
    expect(headers).toEqual({
      'content-type': 'application/schema+json',
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"[\w-]{43}"$/) as unknown,
    });
    const file = join(ROOT, 'docs/schemas/app-manifest.v1.schema.json');
    expect(JSON.parse(String(body))).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  test('is found at the address it names as its own', async () => {
    const { $id } = JSON.parse(String((await ask('getManifestSchema')).body)) as { $id: string };
    expect(Object.keys(routes)).toContain(`GET ${$id}`);
  });
});

describe('the page', () => {
  let page: string;
  let headers: Record<string, string>;
  let tags: Tag[];

  beforeAll(async () => {
    const reply = await ask('getDocs');
    page = String(reply.body);
    headers = reply.headers;
    tags = readTags(page);
  });

  test('is HTML that may be kept a while', () => {
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(page).toMatch(/^<!doctype html>\s*<html lang="en">/);
  });

  test.each(operations)('shows %s %s with its permission and its codes', (method, path, operation) => {
    const start = page.indexOf(`<article aria-labelledby="${operation.operationId}">`);
    expect(start).toBeGreaterThan(0);
    const article = unescaped(page.slice(start, page.indexOf('</article>', start)));
    expect(article).toContain(operation.summary);
    expect(article).toContain(`${method.toUpperCase()}</span> <code>${path}</code>`);
    const permission = operation['x-permission'];
    const words: Record<string, string> = {
      public: 'Open to anyone',
      signed_in: 'valid token',
      iam: 'AWS credentials',
    };
    expect(article).toContain(words[permission] ?? permission);
    for (const code of operation['x-problem-codes']) expect(article).toContain(`#problem-${code}`);
    for (const name of Object.keys(operation.requestBody?.content ?? {})) expect(article).toContain(name);
  });

  test('shows every route, and each in the contents', () => {
    expect(tags.filter(({ name }) => name === 'article')).toHaveLength(Object.keys(routes).length);
    const contents = page.slice(page.indexOf('<nav'), page.indexOf('</nav>'));
    for (const [, , { operationId }] of operations) expect(contents).toContain(`href="#${operationId}"`);
  });

  test('needs nothing from anywhere: no script, no picture, no other address', () => {
    for (const { name, attributes } of tags) {
      expect(['script', 'link', 'img', 'iframe', 'form', 'object']).not.toContain(name);
      expect(
        Object.keys(attributes).filter((each) => each.startsWith('on') || each === 'style' || each === 'src'),
      ).toEqual([]);
      if (attributes['href'] !== undefined) expect(attributes['href']).toMatch(/^(#|\/(?!\/))/);
    }
    const style = /<style>([^<]*)<\/style>/.exec(page)?.[1];
    expect(style).not.toMatch(/url\(|@import|https?:/);
  });

  test('is allowed its own style sheet and nothing else', () => {
    const styles = [...page.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style = '']) => style);
    expect(styles).toHaveLength(1);
    const hash = createHash('sha256')
      .update(styles[0] ?? '')
      .digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  test('can be walked by its headings and links', () => {
    const ids = tags.flatMap(({ attributes }) => attributes['id'] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const links = tags.flatMap(({ attributes }) => attributes['href']?.match(/^#(.+)/)?.[1] ?? []);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
    const labels = tags.flatMap(({ attributes }) => attributes['aria-labelledby'] ?? []);
    expect(labels.filter((id) => !ids.includes(id))).toEqual([]);

    const levels = tags.filter(({ name }) => /^h[1-6]$/.test(name)).map(({ name }) => Number(name[1]));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    levels.forEach((level, index) => {
      expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
    });
    expect(tags.filter(({ name }) => name === 'main')).toHaveLength(1);
    for (const { attributes } of tags.filter(({ name }) => name === 'th'))
      expect(attributes['scope']).toMatch(/^(row|col)$/);
  });

  test('shows what it is told as text, whatever that is', () => {
    const evil = `</code><script>alert("1")</script>'&`;
    const hostile = JSON.parse(text) as OpenapiDocument;
    const [operation] = Object.values(hostile.paths['/api/v1/orgs'] ?? {});
    if (operation) operation.summary = evil;
    hostile.info.title = evil;
    hostile.info.description = evil;
    hostile.paths[`/${evil}`] = { get: { ...(operation as Operation), operationId: 'evil' } };
    for (const schema of Object.values(hostile.components.schemas)) {
      schema.properties = { ...schema.properties, [evil]: { type: evil, description: evil, enum: [evil] } };
    }
    for (const problem of hostile['x-problems']) problem.title = evil;
    const shown = renderPage(hostile);
    expect(shown).not.toContain('<script');
    expect(unescaped(shown)).toContain(evil);
    expect(() => readTags(shown)).not.toThrow();
  });
});

describe('the function', () => {
  test.each([
    ['GET /docs', 'text/html; charset=utf-8', "default-src 'none'"],
    ['GET /api/v1/openapi.json', 'application/json', undefined],
    ['GET /api/v1/asyncapi.json', 'application/json', undefined],
  ])('answers %s to anyone, and tells the limits', async (routeKey, contentType, policy) => {
    const requestContext = { http: { sourceIp: '203.0.113.1' } };
    const event = { routeKey, headers: {}, requestContext } as unknown as APIGatewayProxyEventV2;
    const { statusCode, headers = {}, body = '' } = await handler(event);
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': contentType,
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
      'ratelimit-policy': '"source";q=200;w=4',
    });
    expect(headers['content-security-policy']?.toString().split(';')[0]).toBe(policy);
    expect(body).toContain('/api/v1/openapi.json');
  });
});

describe('an example call', () => {
  /** What a shell makes of the calls: the arguments curl would be given. */
  function argumentsOf(scripts: string[]): string[][] {
    const prelude = [
      'set -u',
      'curl() { printf "%s\\0" "$@"; printf "\\n\\0"; }',
      'uuidgen() { echo key-1; }',
      'API_BASE_URL=https://api.test TOKEN=t AWS_REGION=r AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=s',
      'ORG_ID=o PROJECT_ID=p USER_ID=u INVITATION_ID=i SERVICE_ACCOUNT_ID=sa SELFTEST_ID=st NODE_ID=n',
      'APP_SLUG=s VERSION=1 OTHER_VERSION=2 SUBMISSION_ID=m',
      'INTENT_ID=i ARTIFACT_ID=a POLICY_NAME=n FINGERPRINT=f TASK_ID=t WORKLOAD_ID=w',
      'SKU=k ALLOCATION_ID=al VOLUME_ID=v',
    ];
    const output = execFileSync('bash', ['-c', [...prelude, ...scripts].join('\n')], { encoding: 'utf8' });
    return output
      .split('\0\n\0')
      .slice(0, -1)
      .map((each) => each.split('\0'));
  }

  test('is what it seems to be, to a shell', () => {
    const called = argumentsOf(
      operations.map(([method, path, operation]) => curlOf(described, method, path, operation)),
    );
    expect(called).toHaveLength(operations.length);
    called.forEach((given, index) => {
      const [method, path, operation] = operations[index] as [string, string, Operation];
      const after = (flag: string) =>
        given.flatMap((each, at) => (each === flag ? [given[at + 1] ?? ''] : []));
      expect(after('-X')).toEqual(method === 'get' ? [] : [method.toUpperCase()]);
      expect(given.find((each) => each.startsWith('https:'))).toMatch(/^https:\/\/api\.test\/[^${}]*$/);
      expect(
        given.some(
          (each) => each.startsWith('https:') && each.split('/').length === path.split('/').length + 2,
        ),
      ).toBe(true);
      const example = operation.requestBody?.content['application/json']?.example;
      expect(after('-d').map((each) => JSON.parse(each) as unknown)).toEqual(
        example === undefined ? [] : [example],
      );
      expect(after('-H').includes('Authorization: Bearer t')).toBe('bearer' in (operation.security[0] ?? {}));
      expect(after('--user')).toEqual('sigv4' in (operation.security[0] ?? {}) ? ['a:s'] : []);
    });
  });

  test('keeps a quote in the body out of the shell’s hands', () => {
    const [, , operation] = operations.find(([, , each]) => each.requestBody) as [string, string, Operation];
    const example = { name: `it's $(date) "so"` };
    const content = { 'application/json': { schema: {}, example } };
    const script = curlOf(described, 'post', '/x', {
      ...operation,
      requestBody: { required: true, content },
    });
    const [given = []] = argumentsOf([script]);
    expect(JSON.parse(given.at(-1) ?? '')).toEqual(example);
  });
});

describe('the members of a body', () => {
  test('are told by path, through lists, references and alternatives', () => {
    const document = structuredClone(described);
    document.components.schemas['Thing'] = {
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
      },
      required: ['id'],
      additionalProperties: false,
    };
    const schema: Schema = {
      type: 'object',
      properties: {
        items: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
        next: { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
        choice: {
          anyOf: [
            { type: 'object', properties: { a: { const: 1 } } },
            { type: 'object', properties: { b: { enum: ['x'] } } },
          ],
        },
        size: { type: 'integer', minimum: 1, default: 3 },
      },
      required: ['items'],
    };
    const told = fieldsOf(document, schema).map(({ path, type, isRequired, schema }) => [
      path,
      type,
      isRequired,
      rulesOf(schema).join('; '),
    ]);
    expect(told).toEqual([
      ['items', 'list of object', true, ''],
      ['items[].id', 'string (uuid)', true, ''],
      ['items[].tags', 'list of string', false, 'at most 5 items'],
      ['next', 'string or null', false, 'at most 9 characters'],
      ['choice', 'object', false, ''],
      ['choice.a', '1', false, ''],
      ['choice.b', 'anything', false, 'one of "x"'],
      ['size', 'integer', false, 'at least 1; 3 if omitted'],
    ]);
  });
});
