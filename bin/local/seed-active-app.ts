import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DemoApi } from './demo-api.ts';
import {
  type Artifact,
  artifactsPath,
  type Content,
  fileContent,
  imageContent,
  keepTrusted,
  listArtifacts,
  publish,
  type Publication,
} from './seed-artifacts.ts';
import {
  folderOf,
  type Manifest,
  type People,
  readManifest,
  seedApp,
  type Version,
  versionPath,
} from './seed-catalog.ts';
import type { DemoSigner } from './seed-signing.ts';
import { makeWebImage } from './web-image.ts';

/** The app to try first. */
const SLUG = 'hello-web';

const POLICY = '/api/v1/admin/apps/promotion-policy';
const REASON = 'The demo has an app that can be launched.';
const ENDED_SECONDS_MAX = 60;
const POLL_MS = 100;

export interface ActiveAppOptions extends People {
  signer: DemoSigner;
  /** What its image is made of. Without it, or without a registry to push to, the app stays a draft. */
  busybox: string | undefined;
  hasRegistry: boolean;
  say: (part: string, message: string) => void;
  stop?: AbortSignal;
}

export interface SeededApp {
  slug: string;
  version: string;
  status: string;
}

interface Promotion {
  status: string;
  waiting_for: string | null;
  error?: { code: string; detail?: string };
}

/**
 * The one app of the starter pack that is active from the first start: its image is made on this machine, and with a
 * file goes the way of every artifact. A start that was interrupted is taken up where it ended, and a version that has
 * left draft is left to whoever promotes it. The platform starts without it too, and says what is in the way.
 */
export async function seedActiveApp(options: ActiveAppOptions): Promise<SeededApp> {
  const { developer, say, stop } = options;
  const manifest = readManifest(SLUG);
  const { version } = manifest.version;
  const statusNow = async () => (await developer.find<Version>(versionPath(manifest)))?.status ?? 'draft';
  try {
    await complete(options, manifest, await statusNow());
  } catch (error) {
    if (stop?.aborted) throw error;
    say(
      'demo',
      `${SLUG} ${version} is not complete; the next start tries again. ${(error as Error).message}`,
    );
  }
  return { slug: SLUG, version, status: await statusNow() };
}

async function complete(options: ActiveAppOptions, manifest: Manifest, status: string): Promise<void> {
  const { developer, signer, projectId, busybox, hasRegistry, say } = options;
  const { version } = manifest.version;
  const publication = { developer, signer, projectId, app_slug: SLUG, app_version: version };
  // A promotion that an interrupted start asked for goes on by itself.
  if (['staged', 'canary'].includes(status)) await promotionEnded(options.admin, versionPath(manifest));
  if (status !== 'draft') return keepArtifactsTrusted(publication, manifest);
  if (busybox !== undefined && hasRegistry) return makeActive(options, publication, manifest, busybox);
  const lacking = hasRegistry ? 'a statically linked busybox' : 'the OCI registry';
  say('demo', `${SLUG} ${version} stays a draft without ${lacking}. Install it, and start again.`);
  return seedApp(options, manifest);
}

async function keepArtifactsTrusted(publication: Publication, manifest: Manifest): Promise<void> {
  const { artifacts } = await publication.developer.send<Version>('GET', versionPath(manifest));
  const bound = (await listArtifacts(publication)).filter(({ artifact_name, digest }) =>
    artifacts.some((each) => each.name === artifact_name && each.digest === digest),
  );
  await Promise.all(bound.map((artifact) => keepTrusted(publication, artifact)));
}

async function makeActive(
  options: ActiveAppOptions,
  publication: Publication,
  manifest: Manifest,
  busybox: string,
): Promise<void> {
  const { admin, say } = options;
  say(
    'demo',
    `publishing ${SLUG} ${manifest.version.version}: its image and a file are pushed, signed and promoted …`,
  );
  const folder = folderOf(SLUG);
  const [image, weights] = await Promise.all([
    makeWebImage(busybox, join(folder, 'site')),
    fileContent('weights', join(folder, 'weights.json')),
  ]);
  const contents = [imageContent(publication, 'runtime', image), weights];
  await Promise.all([
    seedPolicy(admin),
    seedApp(options, withDigests(manifest, contents)),
    ...contents.map(async (content) =>
      promoteArtifact(admin, publication, await publish(publication, content)),
    ),
  ]);
  const at = versionPath(manifest);
  await promote(admin, at, {
    what: `${SLUG} ${manifest.version.version}`,
    isDone: async () => (await admin.send<Version>('GET', at)).status !== 'draft',
    path: `${at.replace('/apps/', '/admin/apps/')}/publish`,
    body: { bake_seconds: 0 },
  });
}

function withDigests(manifest: Manifest, contents: Content[]): Manifest {
  const digestOf = (name: string) =>
    contents.find(({ artifact_name }) => artifact_name === name)?.descriptor.digest;
  const artifacts = manifest.version.artifacts.map((each) => ({ ...each, digest: digestOf(each.name) }));
  return { ...manifest, version: { ...manifest.version, artifacts } };
}

/** Nobody sits at a demo to report a smoke run. A policy that somebody has set is theirs. */
async function seedPolicy(admin: DemoApi): Promise<void> {
  const { version } = await admin.send<{ version: number }>('GET', POLICY);
  if (version > 0) return;
  const reason = 'On one machine promotions wait for nobody.';
  await admin.send('PUT', POLICY, { smoke: { gate: 'automatic' }, versions: { bake_seconds: 0 }, reason });
}

async function promoteArtifact(
  admin: DemoApi,
  publication: Publication,
  { id, artifact_name }: Artifact,
): Promise<void> {
  const at = `${artifactsPath(publication)}/${id}`;
  await promote(admin, at, {
    what: `the artifact ${artifact_name}`,
    isDone: async () => (await admin.send<Artifact>('GET', at)).lifecycle_state === 'active',
    path: `${at}/promote`,
    body: { target: 'active' },
  });
}

/** A promotion that was asked for in a start that was interrupted goes on by itself; one that failed is asked for again. */
async function promote(
  admin: DemoApi,
  at: string,
  asked: { what: string; isDone: () => Promise<boolean>; path: string; body: object },
): Promise<void> {
  await promotionEnded(admin, at);
  if (await asked.isDone()) return;
  await admin.send('POST', asked.path, { ...asked.body, reason: REASON });
  const { status, error } = (await promotionEnded(admin, at)) ?? {};
  if (status !== 'succeeded')
    throw new Error(`The promotion of ${asked.what} failed. ${error?.detail ?? error?.code ?? ''}`);
}

/** The last promotion there was, once it has ended. */
async function promotionEnded(admin: DemoApi, at: string): Promise<Promotion | undefined> {
  const deadline = Date.now() + ENDED_SECONDS_MAX * 1000;
  for (;;) {
    const promotion = await admin.find<Promotion>(`${at}/promotion`);
    if (promotion?.status !== 'running') return promotion;
    if (Date.now() > deadline)
      throw new Error(`A promotion takes longer than ${ENDED_SECONDS_MAX} s. ${promotion.waiting_for ?? ''}`);
    await wait(POLL_MS);
  }
}
