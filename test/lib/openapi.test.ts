import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
} from '../../functions/docs/document.ts';
import { type ProblemCode, PROBLEMS } from '../../functions/problems.ts';
import { routes } from '../../functions/routes.ts';
import { ROOT } from '../../lib/bundle.ts';
import { type RouteInFull, routesInFull } from '../../lib/endpoints.ts';
import { buildOpenapi } from '../../lib/openapi.ts';
import { nameSchemas } from '../../lib/openapi-schemas.ts';
import manifest from '../../package.json' with { type: 'json' };

const document = buildOpenapi();
const all = routesInFull();

function operationOf({ path, method }: RouteInFull): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`The document says nothing of ${method} ${path}.`);
  return operation;
}

const parametersOf = (operation: Operation): Parameter[] =>
  operation.parameters.map((each) => resolve<Parameter>(document, each));

const problemsOf = (operation: Operation): [string, Answer][] =>
  Object.entries(operation.responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, answer]) => [status, resolve<Answer>(document, answer)]);

/** Every reference anywhere in the document. */
function refsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = '$ref' in part && typeof part.$ref === 'string' ? [part.$ref] : [];
  return [...own, ...Object.values(part).flatMap(refsIn)];
}

describe('the OpenAPI document', () => {
  test('is valid', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  test('holds every route of functions/routes.ts and no other', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(Object.keys(routes).sort());
  });

  test('is of the version of the package, and the same each time it is made', () => {
    expect(document.info.version).toBe(manifest.version);
    expect(JSON.stringify(buildOpenapi())).toBe(JSON.stringify(document));
  });

  test('points only at what it has, and has only what is pointed at', () => {
    const refs = new Set(refsIn(document));
    for (const ref of refs) expect(resolve<object>(document, { $ref: ref })).toBeTypeOf('object');
    const kept = (['schemas', 'parameters', 'headers', 'responses'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    const unused = kept.filter((ref) => !refs.has(ref));
    // A status no route has now may still be told over the WebSocket, or by a route to come.
    expect(unused.filter((ref) => !ref.startsWith('#/components/responses/'))).toEqual([]);
  });

  test('names every operation once', () => {
    const ids = all.map((route) => operationOf(route).operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  });

  test('lists every code a caller can meet, with its status', () => {
    const shown = Object.keys(PROBLEMS).filter((code) => code !== 'idempotency.replayed');
    expect(document.components.schemas['Problem']?.properties?.['code']?.enum).toEqual(shown);
    expect(document['x-problems'].map(({ code }) => code)).toEqual(shown);
  });
});

describe.each(all.map((route) => [route.route, route] as const))('%s', (_, route) => {
  const operation = operationOf(route);

  test('can be told in JSON Schema', () => {
    expect(() => nameSchemas([route])).not.toThrow();
  });

  test('tells its permission and how to prove who asks', () => {
    expect(operation['x-permission']).toBe(route.permission);
    const bearer = [{ bearer: [] }];
    const schemes: Record<string, unknown> = { public: [], iam: [{ sigv4: [] }] };
    expect(operation.security).toEqual(schemes[route.permission] ?? bearer);
    expect(operation.tags).toEqual([route.domain]);
  });

  test('names the parameters of its path, each once', () => {
    const parameters = parametersOf(operation);
    const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
    expect(inPath).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    const names = parameters.map((each) => `${each.in} ${each.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('header X-Request-ID');
  });

  test('asks for an idempotency key where one is needed', () => {
    const key = parametersOf(operation).find(({ name }) => name === 'X-Idempotency-Key');
    const { idempotency } = route.endpoint.spec;
    const expected =
      route.endpoint.kind !== 'command' || idempotency === 'none' ? undefined : idempotency === 'required';
    expect(key?.required).toBe(expected);
  });

  test('takes If-Match where something is edited', () => {
    const has = parametersOf(operation).some(({ name }) => name === 'If-Match');
    if (route.method === 'PATCH' || route.method === 'PUT') expect(has).toBe(true);
    expect(has).toBe(operation['x-problem-codes'].includes('precondition.failed'));
  });

  test('answers with a shape, or with nothing to say', () => {
    const { status = 200, reply, media } = route.endpoint.spec;
    const answer = resolve<Answer>(document, operation.responses[status] ?? { description: '' });
    expect(Object.keys(answer.content ?? {})).toEqual(
      status === 204 ? [] : [media?.split(';')[0] ?? 'application/json'],
    );
    // Without a shape nobody can tell what comes back.
    expect(status === 204 || media !== undefined || reply !== undefined).toBe(true);
  });

  test('may always be refused, and then with a problem document', () => {
    const problems = problemsOf(operation);
    expect(problems.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '500', '503']));
    for (const [status, { content }] of problems) {
      expect(content?.['application/problem+json']?.schema).toEqual({ $ref: '#/components/schemas/Problem' });
      expect(content?.['application/problem+json']?.example).toMatchObject({ status: Number(status) });
    }
    const statuses = new Set(
      operation['x-problem-codes'].map((code) => String(PROBLEMS[code as ProblemCode].status)),
    );
    expect(new Set(problems.map(([status]) => status))).toEqual(statuses);
  });

  test('names the codes that whoever asks can meet, whatever they ask', () => {
    const token = ['auth.missing', 'auth.invalid', 'auth.revoked', 'rate.exceeded'];
    const met: Record<string, string[]> = {
      public: ['rate.exceeded'],
      iam: ['auth.missing'],
      signed_in: token,
    };
    expect(operation['x-problem-codes']).toEqual(
      expect.arrayContaining(met[route.permission] ?? [...token, 'permission.denied']),
    );
  });

  test('names the status of every refusal its handler can be seen to make', () => {
    const file = route.handler.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const source = readFileSync(join(ROOT, 'functions', route.domain, `${file}.ts`), 'utf8');
    const quoted = [...source.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, code = '']) => code);
    const refused = quoted
      .filter((code): code is ProblemCode => code in PROBLEMS)
      .map((code) => String(PROBLEMS[code].status));
    const told = Object.keys(operation.responses);
    expect(refused.filter((status) => !told.includes(status))).toEqual([]);
  });
});

const withBody = all.filter(({ endpoint }) => endpoint.spec.body);

describe.each(withBody.map((route) => [route.route, route] as const))('the body of %s', (_, route) => {
  const { requestBody } = operationOf(route);
  const schema = route.endpoint.spec.body as v.GenericSchema;

  test('is shown as its endpoint would accept it', () => {
    expect(v.safeParse(schema, requestBody?.content['application/json']?.example).issues).toBeUndefined();
  });

  test('comes as JSON, or as a form or another text where that is taken too', () => {
    const { form, parseText } = route.endpoint.spec;
    const others = [form && 'application/x-www-form-urlencoded', parseText?.media].filter(Boolean);
    expect(Object.keys(requestBody?.content ?? {})).toEqual(['application/json', ...others]);
  });

  test('may be left out where nothing need be said', () => {
    // A manifest has rules of its own: to the kernel anything is one, and nothing is none.
    const isManifest = route.endpoint.spec.parseText !== undefined;
    expect(requestBody?.required).toBe(isManifest || !v.is(schema, {}));
  });
});

describe('what routes share', () => {
  test('a page is asked for in the same way everywhere', () => {
    const lists = all.filter(
      ({ endpoint }) => 'cursor' in ((endpoint.spec.query as { entries?: object })?.entries ?? {}),
    );
    expect(lists.length).toBeGreaterThan(0);
    for (const list of lists) {
      expect(operationOf(list).parameters).toEqual(
        expect.arrayContaining([
          { $ref: '#/components/parameters/Limit' },
          { $ref: '#/components/parameters/Cursor' },
        ]),
      );
    }
    expect(document.components.parameters['Limit']?.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 50,
    });
  });

  test('a thing people edit is told with its entity tag', () => {
    const schemaOf = (answer: Answer): Schema =>
      resolve<Schema>(document, answer.content?.['application/json']?.schema ?? {});
    for (const route of all) {
      const [, answer] = Object.entries(operationOf(route).responses)[0] ?? [];
      const known = resolve<Answer>(document, answer ?? { description: '' });
      const isEdited = ['number', 'integer'].includes(String(schemaOf(known).properties?.['version']?.type));
      expect('ETag' in (known.headers ?? {})).toBe(isEdited);
    }
  });
});
