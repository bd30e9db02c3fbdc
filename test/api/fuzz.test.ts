import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROBLEMS } from '../../functions/problems.ts';
import { buildOpenapi } from '../../lib/openapi.ts';
import { DEEP } from '../deep.ts';
import { routesAsked } from '../domains.ts';
import { ADMIN, openWorld, type World } from './world.ts';

const RUNS = DEEP ? 100_000 : 2_000;
const ORG = '0199aaaa-0000-7000-8000-000000000001';
const PROJECT = '0199aaaa-0000-7000-8000-00000000000a';
const PLANTED = 'planted-secret-0f3a9c';

/** The codes the OpenAPI document says a route may refuse with. */
const told = new Map<string, string[]>(
  Object.entries(buildOpenapi().paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, { 'x-problem-codes'?: string[] }>).map(
      ([method, operation]) =>
        [`${method.toUpperCase()} ${path}`, operation['x-problem-codes'] ?? []] as const,
    ),
  ),
);

let world: World;
let admin: string;
const unhandled: unknown[] = [];
const logged: string[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
const write = process.stdout.write.bind(process.stdout);

beforeAll(async () => {
  world = await openWorld();
  admin = await world.issuer.token(ADMIN);
  const common = {
    name: 'x',
    version: 1,
    created_at: '2026-01-01T00:00:00.000Z',
    admin_count: 1,
  };
  await world.put({ pk: `ORG#${ORG}`, sk: 'ORG', ...common, id: ORG, slug: 'fuzz' });
  await world.put({
    pk: `PROJECT#${PROJECT}`,
    sk: 'PROJECT',
    ...common,
    id: PROJECT,
    org_id: ORG,
    slug: 'fuzz',
    status: 'active',
  });
  process.on('unhandledRejection', note);
  process.stdout.write = (chunk: string | Uint8Array) => logged.push(String(chunk)) > 0;
});

afterAll(async () => {
  process.stdout.write = write;
  process.off('unhandledRejection', note);
  await world.close();
});

const words = fc.constantFrom(
  'name',
  'slug',
  'email',
  'role',
  'description',
  'assertion',
  'private_key_pem',
  'service_account_id',
  'key_id',
  'overlap_seconds',
  'invitation_token',
  'project_id',
  'app',
  'version',
  'artifact_ref',
  'runtime_profile',
  'enabled',
  'policy_overrides',
  'target',
  'canary',
  'bake_seconds',
  'reason',
  'verdict',
  'notes',
  '__proto__',
  'constructor',
);
const values = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    'viewer',
    'passed',
    'active',
    '1.0.0',
    'org_admin',
    'a-slug',
    'who@example.com',
    PROJECT,
    ORG,
    PLANTED,
    '',
    null,
    true,
    0,
    -1,
    1e308,
    [],
    {},
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const bodies = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(words, values, { maxKeys: 6 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
);
const params = fc.oneof(
  fc.constantFrom(ORG, PROJECT, PROJECT.toUpperCase(), '..', '%00', 'null', PLANTED),
  fc.uuid(),
  fc.string({ maxLength: 30 }),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'x-request-id',
    'x-idempotency-key',
    'idempotency-key',
    'if-match',
    'content-type',
    'authorization',
    'traceparent',
  ),
  fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom(
      '"1"',
      '*',
      'application/json',
      'text/plain',
      'application/yaml',
      'Bearer x',
      'application/json; charset=utf-8',
    ),
  ),
  { maxKeys: 4 },
);
const queries = fc.dictionary(
  fc.constantFrom(
    'limit',
    'cursor',
    'actor',
    'action',
    'subject',
    'from',
    'to',
    'search',
    'category',
    'backend',
    'launchable',
    'project_id',
    'nonsense',
  ),
  fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom('1', '100', '101', '-1', '1e9', '2026-01-01T00:00:00Z', 'RVZFTlQj'),
  ),
  { maxKeys: 3 },
);

test(`whatever is sent, ${RUNS} times: never a 500, always a problem document, no secret in a log`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routesAsked),
      fc.boolean(),
      bodies,
      fc.array(params, { minLength: 3, maxLength: 3 }),
      headers,
      queries,
      fc.boolean(),
      async (route, inPlace, body, values, sent, query, signed) => {
        const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
        const place: Record<string, string> = { org_id: ORG, project_id: PROJECT };
        const answer = await world.call(route, {
          params: Object.fromEntries(
            names.map((name, index) => [name, (inPlace && place[name]) || (values[index] ?? '')]),
          ),
          query,
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'x-idempotency-key': crypto.randomUUID(), ...sent },
          ...(signed && !('authorization' in sent) ? { token: admin } : {}),
          sourceIp: `10.${Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}.9`,
        });
        expect(answer.status, `${route} ${answer.text}`).toBeLessThan(500);
        if (answer.status >= 400) {
          expect(answer.headers['content-type']).toBe('application/problem+json');
          const problem = answer.body as {
            code: keyof typeof PROBLEMS;
            status: number;
            type: string;
            correlation_id: string;
          };
          expect(PROBLEMS[problem.code].status).toBe(answer.status);
          expect(problem.status).toBe(answer.status);
          expect(problem.correlation_id).toBe(answer.headers['x-request-id']);
          expect(answer.text).not.toContain(PLANTED);
          expect(told.get(route), route).toContain(problem.code);
        }
      },
    ),
    { numRuns: RUNS },
  );
  expect(unhandled).toEqual([]);
  expect(logged.join('')).not.toContain(PLANTED);
}, 600_000);
