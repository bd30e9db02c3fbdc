import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { getProject } from '../../functions/identity/get-project.ts';
import { give } from '../../functions/identity/member.ts';
import { saveRoles } from '../../functions/identity/member-store.ts';
import { planOrg } from '../../functions/identity/org.ts';
import { insertOrg } from '../../functions/identity/org-store.ts';
import { planProject } from '../../functions/identity/project.ts';
import { insertProject } from '../../functions/identity/project-store.ts';
import { newcomer } from '../../functions/identity/user.ts';
import { authorize } from '../../functions/platform/auth/authorize.ts';
import { type Authorized } from '../../functions/platform/scope.ts';
import { systemClock } from '../../functions/platform/clock.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { createContext, withPrincipal } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { readRequest } from '../../functions/platform/http/request.ts';
import { userIdOf } from '../../functions/platform/auth/tokens.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { startControlTable } from '../control-table.ts';
import { openTokenIssuer, type TokenIssuer } from '../platform/token-issuer.ts';
import { type BareHandlers, type Handler, makeBareHandlers } from './bare-handlers.ts';
import { interleave, measureApart, quantile, report, type Row } from './measure.ts';

const ROUNDS = 100;
/** Until the compiler has nothing left to do, on either side. */
const WARM_UP_ROUNDS = 30;
const CALLS = 10;
/** So many that none of them is ever told to wait. */
const PLACES = 40;

const READ = 'GET /api/v1/projects/{project_id}';
const RENAME = 'PATCH /api/v1/projects/{project_id}';

interface Place {
  project_id: string;
  token: string;
}

/**
 * What the kernel costs: processor time of the identity function against handlers that make the same DynamoDB
 * requests with the same client and verify the token, and do nothing else. In a process of its own, so that nothing
 * else is counted, and what the function logs does not stand between the rows.
 */
export const measureHandlerCpu = (): Promise<Row[]> => measureApart(import.meta.filename);

async function measure(): Promise<Row[]> {
  const table = await startControlTable({ roughness: SMOOTH });
  const issuer = await openTokenIssuer();
  Object.assign(process.env, {
    OIDC_ISSUERS: JSON.stringify([issuer.config]),
    PLATFORM_ADMINS: 'somebody-else',
    TOKEN_ISSUER: 'https://api.example.test',
  });
  try {
    const { handler } = await import('../../functions/identity/api.ts');
    const places: Place[] = [];
    while (places.length < PLACES) places.push(await openPlace(issuer));
    return await compare(handler, await makeBareHandlers(issuer), places);
  } finally {
    issuer.close();
    await table.stop();
  }
}

async function compare(handler: Handler, bare: BareHandlers, places: Place[]): Promise<Row[]> {
  let turn = 0;
  const side = (handle: Handler, route: string, body?: () => object) => async (): Promise<number> => {
    const place = places[turn++ % PLACES] as Place;
    const call = async (): Promise<void> => {
      const { statusCode, body: answer } = await handle(eventOf(route, place, body?.()));
      if (statusCode !== 200) throw new Error(answer);
    };
    // The caller and the place are known then, as they are to a warm function.
    await call();
    return cpuMicros(CALLS, call);
  };
  const name = (): object => ({ name: `Called ${newId()}` });
  const sides = {
    bareRead: side(bare.read, READ),
    knowingCaller: side(async (event) => (await authorizeRead(event), bare.readUnasked(event)), READ),
    runningEndpoint: side(runEndpoint, READ),
    read: side(handler, READ),
    bareRename: side(bare.rename, RENAME, name),
    rename: side(handler, RENAME, name),
  };
  await interleave(WARM_UP_ROUNDS, sides);
  const samples = await interleave(ROUNDS, sides);
  const added = (to: keyof typeof sides, by: keyof typeof sides): string =>
    `${pairwise(samples[by], samples[to], (more, less) => more - less).toFixed(0)} µs`;
  const parts = [
    `${added('bareRead', 'knowingCaller')} knowing who may do what`,
    `${added('knowingCaller', 'runningEndpoint')} checking input and shaping the answer`,
    `${added('runningEndpoint', 'read')} limits and the log line`,
  ];
  return [
    rowOf('a read (get project)', samples['read'], samples['bareRead'], parts),
    rowOf('a command (rename project)', samples['rename'], samples['bareRename'], []),
  ];
}

function rowOf(what: string, real: number[] | undefined, bare: number[] | undefined, parts: string[]): Row {
  const micros = (samples: number[] | undefined): string => `${quantile(samples, 0.5).toFixed(0)} µs`;
  return {
    what: `handler CPU ÷ bare handler, ${what}`,
    value: pairwise(real, bare, (a, b) => a / b),
    unit: '×',
    must: 1.5,
    aim: 1.15,
    note: [`${micros(real)} ÷ ${micros(bare)}`, ...parts].join('; '),
  };
}

/** Of samples taken one after the other, so that whatever else the machine does weighs on both. */
function pairwise(
  a: number[] | undefined,
  b: number[] | undefined,
  compared: (a: number, b: number) => number,
): number {
  return quantile(
    a?.map((sample, round) => compared(sample, b?.[round] ?? Number.NaN)),
    0.5,
  );
}

const authorizeRead = ({ headers, pathParameters = {} }: APIGatewayProxyEventV2): Promise<Authorized> =>
  authorize(headers['authorization'], 'project.read', READ, pathParameters, systemClock);

const runEndpoint: Handler = async (event) => {
  const ctx = withPrincipal(createContext(newId()), await authorizeRead(event));
  const { status, headers, body } = await getProject.run(ctx, readRequest(event));
  return { statusCode: status, headers, body: JSON.stringify(body) };
};

async function cpuMicros(calls: number, call: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  for (let made = 0; made < calls; made += 1) await call();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / calls;
}

async function openPlace(issuer: TokenIssuer): Promise<Place> {
  const now = new Date();
  const subject = newId();
  const email = `${subject}@example.com`;
  const org = planOrg(newId(), { name: 'An organisation', slug: slug() }, 1, now);
  const project = planProject(newId(), org.id, { name: 'A project', slug: slug() }, now);
  const user = newcomer(userIdOf(issuer.config.issuer, subject), email);
  const admin = give(user, { org_id: org.id }, 'org_admin', now);
  await commit([...insertOrg(org), ...insertProject(project), ...saveRoles(user, admin)]);
  const claims = { ...issuer.claims(now), sub: subject, email, email_verified: true };
  return { project_id: project.id, token: await issuer.sign(claims, issuer.header()) };
}

const slug = (): string => `s-${newId()}`;

function eventOf(routeKey: string, { project_id, token }: Place, body?: object): APIGatewayProxyEventV2 {
  return {
    version: '2.0',
    routeKey,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-idempotency-key': newId(),
      'x-request-id': newId(),
    },
    pathParameters: { project_id },
    isBase64Encoded: false,
    requestContext: { http: { sourceIp: '192.0.2.1' } },
    ...(body && { body: JSON.stringify(body) }),
  } as unknown as APIGatewayProxyEventV2;
}

if (import.meta.main) report(await measure());
