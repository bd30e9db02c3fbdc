import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeHost, hostThisMachine, seedCapacity, whyHostless } from './local/hosting.ts';
import { type Demo, seedDemo, type SeedOptions } from './local/seed-demo.ts';
import type { Host } from './local/seed-host.ts';
import { obtainToken } from './token/obtain-token.ts';
import { takeDataFolder } from '../lib/local/system/data-folder.ts';
import { chooseDynamoDb, DYNAMODB_TRAITS } from '../lib/local/engines/dynamodb.ts';
import { claimPort, PortTaken, type ClaimedPort } from '../lib/local/iam/front-door.ts';
import { parseOptions, PORT_DEFAULT, USAGE, type LocalOptions } from '../lib/local/system/options.ts';
import { CONSOLE_DEV_SERVER } from '../sdk/sign-in/callbacks.ts';
import { API_AUDIENCE } from '../lib/local/oidc/clients.ts';
import { subjectOf, type Person } from '../lib/local/oidc/people.ts';
import { issuerAt } from '../lib/local/oidc/provider.ts';
import { LocalPlatform } from '../lib/local/platform.ts';
import { removeReadyFile, writeReadyFile } from '../lib/local/system/ready-file.ts';
import { roughness, SMOOTH } from '../lib/local/wire/roughness.ts';
import { say } from '../lib/local/wire/say.ts';
import { synthesize } from '../lib/local/template/synthesize.ts';
import { ensureSystemParts } from '../lib/local/system/system.ts';
import { watchAssembly, watchSources } from '../lib/local/template/watch.ts';

/** One for every role, and one who belongs elsewhere. */
const PEOPLE: readonly Person[] = [
  { email: 'admin@example.com', name: 'Ada Admin' },
  { email: 'owner@example.com', name: 'Olivia Owner' },
  { email: 'developer@example.com', name: 'Devi Developer' },
  { email: 'operator@example.com', name: 'Otto Operator' },
  { email: 'viewer@example.com', name: 'Vera Viewer' },
  { email: 'outsider@example.com', name: 'Oscar Outsider' },
];

/** What a shell answers for a program that ended by Ctrl-C. */
const INTERRUPTED = 130;

const options = parseOptions(process.argv.slice(2));
if ('help' in options) {
  process.stdout.write(options.help);
} else if ('error' in options) {
  process.stderr.write(`${options.error}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  await main(options);
}

async function main(options: LocalOptions): Promise<void> {
  const stop = stopRequest();
  try {
    const leave = await takeDataFolder(options.dataDir, options.fresh);
    await serve(options, stop).finally(leave);
  } catch (error) {
    // What was interrupted on request has nothing to complain of.
    if (stop.aborted) say('stop', 'stopped before everything was ready.');
    else process.stderr.write(`\nThe platform could not start. ${(error as Error).message}\n`);
    process.exitCode ??= stop.aborted ? INTERRUPTED : 1;
  }
  // A socket or timer that somebody else forgot must not keep the command from ending.
  process.exit();
}

async function serve({ dataDir, readyFile, ...options }: LocalOptions, stop: AbortSignal): Promise<void> {
  const begun = performance.now();
  removeReadyFile(readyFile);
  const dynamodb = chooseDynamoDb(options.dynamodb, dataDir);
  const parts = await ensureSystemParts({
    say,
    logDir: join(dataDir, 'logs'),
    needsJava: dynamodb === 'aws',
  });
  stop.throwIfAborted();
  const frontDoor = await openPort(options.port);
  const assembly = options.assembly ?? join(dataDir, 'assembly');
  const refresh = async (): Promise<void> => {
    if (options.assembly === undefined)
      await synthesize(assembly, { ...contextAt(frontDoor.url), ...options.context }, stop);
  };

  // What functions were made of before would pile up.
  if (options.assembly === undefined) rmSync(assembly, { recursive: true, force: true });
  say(
    'start',
    `synthesizing the CDK app, starting DynamoDB (${DYNAMODB_TRAITS[dynamodb].name}), queues, registry and Docker …`,
  );
  if (options.rough !== undefined)
    say('start', `now and then, DynamoDB throttles and lags and records come twice (seed ${options.rough})`);
  const synthesis = refresh();
  // Looked at only when the engines run; until then its failure must not count as unhandled.
  synthesis.catch(() => undefined);
  const platform = await LocalPlatform.open({
    dataDir,
    frontDoor,
    dynamodb,
    roughness: options.rough === undefined ? SMOOTH : roughness(options.rough),
    parts,
    people: PEOPLE,
  });
  let hosting: Promise<Host | undefined> | undefined;
  try {
    say('engines', `ready after ${seconds(begun)} s`);
    // Somebody else's assembly need not have people, or projects.
    const tokenOf = options.assembly === undefined ? signInEverybody(platform) : undefined;
    await synthesis;
    stop.throwIfAborted();
    say('template', `${await platform.apply(assembly)} resources provisioned after ${seconds(begun)} s`);
    platform.run();
    const watching = watch(platform, options.assembly, assembly, refresh);
    const hostless = whyHostless(options.host, platform.whereabouts(), parts.nft);
    let demo: Demo | undefined;
    if (tokenOf) {
      const asked = { ...platform.whereabouts(), dataDir, tokenOf, say, stop };
      hosting = hostless === undefined ? hostThisMachine(asked) : undefined;
      // Both at once. Looked at when the demo is made; until then its failure must not count as unhandled.
      hosting?.catch(() => undefined);
      demo = await seed(platform, { dataDir, tokenOf, busybox: parts.busybox, stop });
      demo = { ...demo, ...(await seedCapacity(asked, demo, await hosting)) };
    }
    announce(platform, readyFile, begun, demo, hostless);
    await aborted(stop);
    await watching.close();
  } finally {
    removeReadyFile(readyFile);
    // Before the container engine: the agent would take the end of its containers for a fault.
    await (await hosting?.catch(() => undefined))?.stop();
    await platform.stop();
  }
}

/** The first signal asks to stop in order; another Ctrl-C stops at once, and the kernel ends the children. */
function stopRequest(): AbortSignal {
  const request = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (request.signal.aborted && signal === 'SIGINT') process.exit(INTERRUPTED);
      if (!request.signal.aborted) say('stop', 'stopping everything … press Ctrl-C again to stop at once.');
      request.abort();
    });
  }
  // Whoever read our output may be gone; the platform is not for that reason.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // A fault of the engine's own: what it started must not outlive it.
  process.on('uncaughtException', (error) => {
    process.exitCode = 1;
    process.stderr.write(`\nThe local engine failed and stops: ${error.stack ?? error.message}\n`);
    if (request.signal.aborted) process.exit();
    request.abort();
  });
  return request.signal;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

async function openPort(wanted: number | undefined): Promise<ClaimedPort> {
  try {
    return await claimPort(wanted ?? PORT_DEFAULT);
  } catch (error) {
    if (wanted !== undefined || !(error instanceof PortTaken)) throw error;
    const free = await claimPort(0);
    say('start', `port ${PORT_DEFAULT} is taken, using ${new URL(free.url).port}`);
    return free;
  }
}

/** Begins at once: there is time while the template is being made. */
function signInEverybody(platform: LocalPlatform): SeedOptions['tokenOf'] {
  const { oidc_issuer: issuer } = platform.whereabouts();
  const signIn = async (email: string): Promise<string> =>
    (await obtainToken({ issuer, email })).access_token;
  const tokens = new Map(PEOPLE.map(({ email }) => [email, signIn(email)]));
  // Looked at only when the demo is made; until then a failure must not count as unhandled.
  for (const token of tokens.values()) token.catch(() => undefined);
  return (email) => tokens.get(email) ?? signIn(email);
}

function seed(
  platform: LocalPlatform,
  options: Pick<SeedOptions, 'dataDir' | 'tokenOf' | 'busybox' | 'stop'>,
): Promise<Demo> {
  const { api_url: apiUrl, registry } = platform.whereabouts();
  return seedDemo({ ...options, apiUrl, hasRegistry: registry !== null, say });
}

/** What the CDK app is told of this machine. */
function contextAt(url: string): Record<string, string> {
  return {
    oidc_issuer: issuerAt(url),
    oidc_audience: API_AUDIENCE,
    platform_admins: subjectOf('admin@example.com'),
    console_origin: CONSOLE_DEV_SERVER,
  };
}

function watch(
  platform: LocalPlatform,
  given: string | undefined,
  assembly: string,
  refresh: () => Promise<void>,
): { close(): Promise<void> } {
  const apply = async (): Promise<void> => {
    const begun = performance.now();
    try {
      await refresh();
      await platform.apply(assembly);
      say('reload', `applied the changed template in ${seconds(begun)} s`);
    } catch (error) {
      say('reload', `the running platform was left unchanged. ${(error as Error).message}`);
    }
  };
  return given === undefined ? watchSources(apply) : watchAssembly(given, apply);
}

function announce(
  platform: LocalPlatform,
  readyFile: string,
  begun: number,
  demo: Demo | undefined,
  hostless: string | undefined,
): void {
  const where = platform.whereabouts();
  writeReadyFile(readyFile, { pid: process.pid, ...where, ...(demo && { demo }) });
  say('ready', `after ${seconds(begun)} s. Press Ctrl-C to stop everything.\n`);
  say('API', `${where.api_url} (described at ${where.api_url}/docs)`);
  if (where.ws_url !== null) say('WebSocket', where.ws_url);
  say('AWS', `${where.aws_endpoint} (region ${where.region}, credentials ${where.aws_credentials_file})`);
  say('sign-in', `${where.oidc_issuer} as ${PEOPLE.map(({ email }) => email).join(', ')}`);
  say('registry', where.registry ?? 'none: images can be neither pushed nor pulled');
  say(
    'Docker',
    where.docker_host === null
      ? 'none: the platform runs without a host, apps can be described but not launched'
      : `DOCKER_HOST=${where.docker_host}`,
  );
  if (demo) say('catalogue', `${where.api_url}/api/v1/apps/catalog: ${describeApps(demo)}`);
  if (demo) say('host', hostless ?? describeHost(demo));
  say('ready file', readyFile);
  say('try', 'npm run selftest, npm run -s token -- owner@example.com');
}

function describeApps({ app_slug, app_version, app_status }: Demo): string {
  return app_status === 'draft'
    ? `${app_slug} ${app_version} is a draft, like three more apps`
    : `${app_slug} ${app_version} is ${app_status}, three more apps are drafts`;
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
