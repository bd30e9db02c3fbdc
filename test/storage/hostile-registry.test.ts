import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { findImageEvidence } from '../../functions/content/image-evidence.ts';
import { logIn } from '../../functions/storage/own-registry-login.ts';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import { openScene, type Person } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import {
  describeContent,
  digestOf,
  OCI_CONFIG,
  OCI_INDEX,
  OCI_MANIFEST,
  onPlatform,
  planConfig,
  planIndex,
  planManifest,
} from '../artifacts/planned-image.ts';

// A registry that does everything wrong. Whatever it does, the caller hears that it may try again, nothing is
// registered, and no more was read than there is room for.

const MIB = 1024 * 1024;
/** Where it is about waiting, time passes this much faster. */
const HASTE = 20;
let haste = 1;

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

let world: World;
let project: Project;
let admin: Person;
let registry: Server;
let elsewhere: Server;
let behave: Behaviour = () => undefined;
let answerElsewhere: Behaviour = () => undefined;
/** What was asked, and what was written to whoever asked. */
let asked: IncomingMessage[] = [];
let bytesSent = 0;

const CONFIG = planConfig();
const IMAGE = planManifest(CONFIG);
const DIGEST = digestOf(IMAGE);

async function serve(handle: Behaviour): Promise<Server> {
  const server = createServer((request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  registry = await serve((request, response) => {
    asked.push(request);
    response.on('close', () => (bytesSent += response.socket?.bytesWritten ?? 0));
    behave(request, response);
  });
  elsewhere = await serve((request, response) => answerElsewhere(request, response));
  const url = urlOf(registry);
  world = await openWorld({
    registry: {
      host: url.slice('http://'.length),
      url,
      port: 0,
      inner: { url },
      storageDir: 'no-such-folder',
      pid: () => undefined,
      stop: () => Promise.resolve(),
    },
  });
  ({ project, admin } = await openScene(world).place());
  // Fetches the issuer's keys, while time still passes as usual.
  await world.call('GET /api/v1/apps/catalog', { token: admin.token });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / haste));
});

beforeEach(() => {
  asked = [];
  bytesSent = 0;
  haste = 1;
});

afterAll(async () => {
  vi.restoreAllMocks();
  for (const server of [registry, elsewhere]) {
    server.closeAllConnections();
    server.close();
  }
  await world.close();
});

const register = (digest = DIGEST) =>
  world.call('POST /api/v1/projects/{project_id}/app-artifacts', {
    params: { project_id: project.id },
    body: { app_slug: 'hostile', app_version: '1.0.0', artifact_name: 'runtime', digest },
    token: admin.token,
    headers: { 'x-idempotency-key': newId() },
  });

const answer =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Behaviour =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

const manifest = (body: string | Buffer, headers: Record<string, string> = {}): Behaviour =>
  answer(200, body, { 'content-type': OCI_MANIFEST, ...headers });

/** As much as the other side takes. */
const endless =
  (bytes: number): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': OCI_MANIFEST, 'content-length': String(bytes) });
    const chunk = Buffer.alloc(MIB / 4, ' ');
    const chunks = Array.from({ length: bytes / chunk.length }, () => chunk);
    pipeline(Readable.from(chunks), response, () => undefined);
  };

const HOSTILE: [string, Behaviour][] = [
  ['answers something with another digest', manifest(`${IMAGE} `)],
  ['answers nothing at all', manifest('')],
  ['shows a page instead', answer(200, '<html>Welcome!</html>', { 'content-type': 'text/html' })],
  [
    'breaks off in the middle',
    (_, response) => {
      response.writeHead(200, { 'content-type': OCI_MANIFEST, 'content-length': String(IMAGE.length) });
      response.write(IMAGE.slice(0, 100), () => response.destroy());
    },
  ],
  ['hangs up', (request) => void request.socket.destroy()],
  [
    'speaks no HTTP',
    (request) => {
      request.socket.end('220 smtp.example.com ESMTP\r\n');
    },
  ],
  ['fails', answer(500, 'oops')],
  ['is down', answer(503)],
  ['has had enough', answer(429, '', { 'retry-after': '3600' })],
  ['does not let us in', answer(403)],
  ['never lets us in', answer(401, '', { 'www-authenticate': 'Basic realm="x"' })],
  ['asks for a token', answer(401, '', { 'www-authenticate': 'Bearer realm="http://x"' })],
  [
    'redirects in a circle',
    (request, response) => answer(307, '', { location: request.url ?? '' })(request, response),
  ],
  ['redirects to nowhere', answer(307)],
  ['redirects to a file', answer(307, '', { location: 'file:///etc/passwd' })],
  ['is silent', () => undefined],
  [
    'drips',
    (_, response) => {
      response.writeHead(200, { 'content-type': OCI_MANIFEST });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    },
  ],
];

async function expectUnavailable(detail: unknown = expect.any(String)): Promise<void> {
  const { status, headers, body } = await register();
  expect(body).toMatchObject({ code: 'registry.unavailable', retryable: true, detail });
  expect(status).toBe(503);
  expect(headers['retry-after']).toBeDefined();
  expect(await world.items('ARTIFACT#')).toEqual([]);
}

const TOO_LONG = 'The registry answered with more than 4194304 bytes.';

describe('a registry that', () => {
  test.each(HOSTILE)('%s is to be asked again, and nothing is registered', async (_, behaviour) => {
    behave = behaviour;
    haste = HASTE;
    await expectUnavailable();
    expect(asked.length).toBeLessThanOrEqual(5);
  });

  test('answers with 100 MB is not read to the end', async () => {
    behave = endless(100 * MIB);
    await expectUnavailable(TOO_LONG);
    // What was sent beyond the limit lies in the buffers of two sockets.
    expect(bytesSent).toBeLessThan(16 * MIB);
  });

  test('answers with what unpacks to 40 MB is not unpacked to the end', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * MIB, ' '), { level: 1 });
    behave = manifest(bomb, { 'content-encoding': 'gzip' });
    const before = process.memoryUsage().arrayBuffers;
    await expectUnavailable(TOO_LONG);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MIB);
  });

  test('has the manifest and not its config says so: that is no reason to ask again', async () => {
    behave = (request, response) =>
      request.url?.includes('/manifests/')
        ? manifest(IMAGE)(request, response)
        : answer(404)(request, response);
    expect((await register()).body).toMatchObject({ code: 'artifact.absent' });
    expect(await world.items('ARTIFACT#')).toEqual([]);
  });

  test('answers each in time, and all together too late, is given up', async () => {
    const referrers = Array.from({ length: 50 }, (_, index) =>
      describeContent(OCI_MANIFEST, planManifest(CONFIG, { annotations: { index } })),
    );
    haste = HASTE;
    const late = 0.3 * (5_000 / HASTE);
    behave = (request, response) => {
      const isList = request.url?.includes('/referrers/');
      const digest = request.url?.split('/').at(-1);
      const index = referrers.findIndex((referrer) => referrer.digest === digest);
      const body = index < 0 ? IMAGE : planManifest(CONFIG, { annotations: { index } });
      const respond = isList
        ? answer(200, planIndex(referrers), { 'content-type': OCI_INDEX })
        : manifest(body);
      setTimeout(() => respond(request, response), late);
    };
    await expect(
      findImageEvidence({ repository: 'a/b', digest: DIGEST }, await logIn()),
    ).rejects.toMatchObject({
      code: 'registry.unavailable',
      detail: 'The registry took too long to answer.',
    });
    expect(asked.length).toBeLessThan(referrers.length);
  });
});

// Which refusal belongs to which answer: what the caller did wrong is told as that, and once and for all.

const byPath =
  (behaviours: Record<string, Behaviour>): Behaviour =>
  (request, response) => {
    const [, behaviour = answer(404)] =
      Object.entries(behaviours).find(([part]) => request.url?.includes(part)) ?? [];
    behaviour(request, response);
  };

const LONG_CONFIG = planConfig({ User: 'long', Labels: { long: 'x'.repeat(2 * MIB) } });
/** Whoever pushed it says that its config is short. */
const UNDERSTATED = planManifest(CONFIG, {
  config: { mediaType: OCI_CONFIG, digest: digestOf(LONG_CONFIG), size: CONFIG.length },
});
const INDEX_OF_LAYER = planIndex([onPlatform('a layer')]);
const LAYER_DIGEST = digestOf('a layer');

const DECIDED: [string, Behaviour, string, string, string][] = [
  ['has neither manifest nor blob', answer(404), DIGEST, 'artifact.absent', 'Push the image first.'],
  [
    'has it as a blob, and no such manifest, as ECR says it',
    byPath({ '/blobs/': answer(200, 'a layer') }),
    DIGEST,
    'artifact.unfit',
    'a layer or a config',
  ],
  [
    'has it as a blob, and fails at such a manifest, as distribution says it',
    byPath({ '/manifests/': answer(500), '/blobs/': answer(200, 'a layer') }),
    DIGEST,
    'artifact.unfit',
    'a layer or a config',
  ],
  [
    'has it as a blob that lies elsewhere',
    byPath({
      '/blobs/': (request, response) =>
        answer(307, '', { location: `${urlOf(elsewhere)}/blob` })(request, response),
    }),
    DIGEST,
    'artifact.unfit',
    'a layer or a config',
  ],
  [
    'does not let us look for the blob',
    byPath({ '/blobs/': answer(403) }),
    DIGEST,
    'artifact.absent',
    'Push the image first.',
  ],
  [
    'has a config longer than its manifest says',
    byPath({ '/manifests/': manifest(UNDERSTATED), '/blobs/': answer(200, LONG_CONFIG) }),
    digestOf(UNDERSTATED),
    'artifact.mismatched',
    'The size of the image config',
  ],
  [
    'has an index of layers',
    byPath({
      [`/manifests/${digestOf(INDEX_OF_LAYER)}`]: manifest(INDEX_OF_LAYER, { 'content-type': OCI_INDEX }),
      '/manifests/': answer(500),
      [`/blobs/${LAYER_DIGEST}`]: answer(200, 'a layer'),
    }),
    digestOf(INDEX_OF_LAYER),
    'artifact.absent',
    'The image for linux/amd64 is not in the registry.',
  ],
  [
    'has something that is no image',
    byPath({ '/manifests/': manifest('{}', { 'content-type': 'application/vnd.example.thing+json' }) }),
    digestOf('{}'),
    'artifact.unfit',
    'application/vnd.example.thing+json',
  ],
  ['fails at both', answer(500), DIGEST, 'registry.unavailable', 'answered 500'],
  [
    'fails, and has no such blob',
    byPath({ '/manifests/': answer(500) }),
    DIGEST,
    'registry.unavailable',
    'answered 500',
  ],
  [
    'is away for a moment, although the blob is there',
    byPath({ '/manifests/': answer(503), '/blobs/': answer(200, 'a layer') }),
    DIGEST,
    'registry.unavailable',
    'answered 503',
  ],
];

describe('what a registry decided is told as it is, when it', () => {
  test.each(DECIDED)('%s', async (_, behaviour, digest, code, detail) => {
    behave = behaviour;
    answerElsewhere = answer(200, 'a layer');
    const { status, body } = await register(digest);
    const isOurs = code === 'registry.unavailable';
    expect(body).toMatchObject({ code, retryable: isOurs, detail: expect.stringContaining(detail) });
    expect(status).toBe(isOurs ? 503 : 422);
    expect(await world.items('ARTIFACT#')).toEqual([]);
  });
});

describe('a blob that lies elsewhere', () => {
  test('is fetched there, and the credential stays here', async () => {
    const seen: (string | undefined)[] = [];
    behave = (request, response) => {
      if (request.url?.includes('/manifests/')) manifest(IMAGE)(request, response);
      else if (request.url?.includes('/referrers/'))
        answer(200, planIndex([]), { 'content-type': OCI_INDEX })(request, response);
      else answer(307, '', { location: `${urlOf(elsewhere)}/blob` })(request, response);
    };
    answerElsewhere = (request, response) => {
      seen.push(request.headers.authorization);
      answer(200, CONFIG)(request, response);
    };
    const { status, body } = (await register()) as { status: number; body: { repository: string } };
    expect(status, JSON.stringify(body)).toBe(201);
    expect(seen).toEqual([undefined]);
    // Of this image alone: what the test before gave up on may arrive late.
    const here = asked.filter(({ url }) => url?.startsWith(`/v2/${body.repository}/`));
    expect(here.map(({ headers }) => headers.authorization?.split(' ')[0])).toEqual([
      'Basic',
      'Basic',
      'Basic',
    ]);
  });
});

const SIGNATURE = 'application/vnd.cncf.notary.signature';
const ENVELOPE = 'x'.repeat(2 * MIB);
const ENVELOPE_MANIFEST = planManifest(CONFIG, {
  artifactType: SIGNATURE,
  subject: describeContent(OCI_MANIFEST, IMAGE),
  layers: [{ mediaType: 'application/jose+json', digest: digestOf(ENVELOPE), size: 100 }],
});

describe('the list of what is attached', () => {
  const list = (count: number) =>
    planIndex(
      Array.from({ length: count }, (_, index) => ({
        ...describeContent(OCI_MANIFEST, String(index)),
        artifactType: 'application/vnd.cncf.notary.signature',
      })),
    );
  const evidence = async () => findImageEvidence({ repository: 'a/b', digest: DIGEST }, await logIn());
  /** How the registry behaves when it is asked for the list; the image is there. */
  const listing =
    (behaviour: Behaviour): Behaviour =>
    (request, response) => {
      if (request.url?.endsWith(`/manifests/${DIGEST}`)) manifest(IMAGE)(request, response);
      else behaviour(request, response);
    };

  test.each<[string, Behaviour]>([
    ['is a page', answer(200, '<html>')],
    ['is no list', answer(200, '{"manifests":7}')],
    ['fails', answer(500)],
    [
      'is kept under a tag and garbled on its way',
      (request, response) =>
        request.url?.includes('/referrers/')
          ? answer(404)(request, response)
          : answer(200, list(1), { 'docker-content-digest': DIGEST })(request, response),
    ],
    [
      'is kept under a tag and nobody says what it is',
      (request, response) =>
        request.url?.includes('/referrers/')
          ? answer(404)(request, response)
          : answer(200, list(1))(request, response),
    ],
  ])('that %s is to be asked for again', async (_, behaviour) => {
    behave = listing(behaviour);
    await expect(evidence()).rejects.toMatchObject({ code: 'registry.unavailable' });
  });

  test.each<[string, string, Behaviour]>([
    ['names a layer as a signature', digestOf('a layer'), answer(500)],
    ['names what is gone', digestOf('gone'), answer(404)],
    ['names an envelope longer than it says', digestOf(ENVELOPE_MANIFEST), manifest(ENVELOPE_MANIFEST)],
  ])('that %s tells of no signature', async (_, digest, behaviour) => {
    const referrer = { ...describeContent(OCI_MANIFEST, ''), digest, artifactType: SIGNATURE };
    behave = listing(
      byPath({
        '/referrers/': answer(200, planIndex([referrer])),
        '/manifests/': behaviour,
        [`/blobs/${digestOf('a layer')}`]: answer(200, 'a layer'),
        [`/blobs/${digestOf(ENVELOPE)}`]: answer(200, ENVELOPE),
      }),
    );
    expect(await evidence()).toEqual({ signatures: [], provenances: [] });
  });

  test('may be as long as a manifest where a client keeps it', async () => {
    const long = planIndex([{ ...describeContent(OCI_MANIFEST, ''), artifactType: 'x'.repeat(3 * MIB) }]);
    behave = listing(
      byPath({ '/manifests/': answer(200, long, { 'docker-content-digest': digestOf(long) }) }),
    );
    expect(await evidence()).toEqual({ signatures: [], provenances: [] });
  });

  test('may have pages, of which each is asked for, and none elsewhere', async () => {
    behave = listing((request, response) => {
      const page = new URL(request.url ?? '', urlOf(registry)).searchParams.get('page') ?? '1';
      const next = page === '1' ? `<${request.url}?page=2>` : `<${urlOf(elsewhere)}/referrers?page=3>`;
      if (request.url?.includes('/referrers/'))
        answer(200, list(1), { link: `${next}; rel="next"` })(request, response);
      else answer(404)(request, response);
    });
    expect(await evidence()).toEqual({ signatures: [], provenances: [] });
    expect(asked.filter(({ url }) => url?.includes('/referrers/'))).toHaveLength(2);
  });

  test('may name thousands, of which few are looked at', async () => {
    behave = listing((request, response) =>
      request.url?.includes('/referrers/')
        ? answer(200, list(3_000))(request, response)
        : answer(404)(request, response),
    );
    expect(await evidence()).toEqual({ signatures: [], provenances: [] });
    expect(asked.length).toBeLessThanOrEqual(2 + 50);
  });
});
