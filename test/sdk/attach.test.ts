import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateRepositoryCommand } from '@aws-sdk/client-ecr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attach, type Attachment } from '../../sdk/signing/attach.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor, type Descriptor } from '../../sdk/signing/notation.ts';
import {
  digestOf,
  EMPTY,
  INDEX_TYPE,
  indexOf,
  MANIFEST_TYPE,
  referrersTag,
  signatureManifest,
  type ReferrersIndex,
} from '../../sdk/signing/oci.ts';
import { signProvenance } from '../../sdk/signing/provenance.ts';
import { openRegistry, type RegistryAccess } from '../../sdk/signing/registry-access.ts';
import { keySigner } from '../../sdk/signing/signer.ts';
import { openEcrWorld, PULL, PUSH, type EcrWorld } from '../local/registry/ecr-world.ts';
import { OciClient } from '../local/registry/oci-client.ts';

const signer = keySigner(createDevelopmentChain({ organisation: 'Example' }));
const provenanceOf = (digest: string) =>
  signProvenance({ digest, builderId: 'b', buildType: 't', externalParameters: {} }, signer);
const signatureOf = (subject: Descriptor) => signDescriptor(subject, signer, { signedAt: new Date() });

let world: EcrWorld;
let names = 0;

beforeAll(async () => {
  world = await openEcrWorld();
});

afterAll(() => world?.close());

/** A repository with an image in it, and who may do what there. */
async function pushed(imageTagMutability: 'MUTABLE' | 'IMMUTABLE' = 'MUTABLE') {
  const repository = `gpuaas/apps/example/app-${++names}`;
  await world.operator.send(new CreateRepositoryCommand({ repositoryName: repository, imageTagMutability }));
  const as = async (actions: string[]) =>
    openRegistry({
      host: world.registry.host,
      credentials: {
        username: 'AWS',
        password: await world.password(world.session(actions, [repository])),
      },
    });
  const password = await world.password(world.principals.operator());
  const images = new OciClient(world.registry.url, repository, password);
  const { digest } = await images.push('latest', `content ${names}`);
  const both = await as([...PULL, ...PUSH]);
  const subject = await both.headManifest(repository, digest);
  if (subject === undefined) throw new Error('The image is not there.');
  const list = async () => {
    const bytes = await both.getManifest(repository, referrersTag(digest));
    return (JSON.parse(bytes?.toString('utf8') ?? '{"manifests":[]}') as ReferrersIndex).manifests;
  };
  return { repository, subject, as, both, list };
}

type Pushed = Awaited<ReturnType<typeof pushed>>;

const attachNew = async (
  { repository, subject }: Pushed,
  registry: RegistryAccess,
  more: Partial<Attachment> = {},
) => attach({ registry, repository, subject, signature: await signatureOf(subject), settleMs: 0, ...more });

describe('a registry without the referrers API', () => {
  test('gets signature and provenance with a credential that may only push, on one list', async () => {
    const image = await pushed('IMMUTABLE');
    const publisher = await image.as(PUSH);
    const provenance = await provenanceOf(image.subject.digest);
    const attached = await attachNew(image, publisher, { provenance });
    expect(attached.listedBy).toBe('tag');
    expect(await image.list()).toMatchObject([
      { artifactType: 'application/vnd.cncf.notary.signature', digest: attached.signature },
      { artifactType: 'application/vnd.in-toto+json', digest: attached.provenance },
    ]);
    const manifest = await image.both.getManifest(image.repository, attached.signature);
    expect(JSON.parse(manifest?.toString('utf8') ?? '')).toMatchObject({ subject: image.subject });
  });

  test('keeps what others signed before', async () => {
    const image = await pushed();
    const first = await attachNew(image, image.both);
    const second = await attachNew(image, await image.as(PUSH));
    expect((await image.list()).map(({ digest }) => digest)).toEqual([first.signature, second.signature]);
  });

  test('lists the same signature once', async () => {
    const image = await pushed();
    const signature = await signatureOf(image.subject);
    const createdAt = new Date();
    await attachNew(image, image.both, { signature, createdAt });
    await attachNew(image, image.both, { signature, createdAt });
    expect(await image.list()).toHaveLength(1);
  });

  /** A list with only a signature that was not there before. */
  const overwrite = async ({ both, repository, subject }: Pushed): Promise<void> => {
    const signature = await signatureOf(subject);
    const { bytes, referrer } = signatureManifest(subject, signature, new Date());
    for (const blob of [EMPTY, signature]) await both.pushBlob(repository, blob);
    await both.putManifest(repository, referrer.digest, { mediaType: MANIFEST_TYPE, bytes });
    const list = { mediaType: INDEX_TYPE, bytes: indexOf([referrer]) };
    await both.putManifest(repository, referrersTag(subject.digest), list);
  };

  /** Somebody who has read the list before we wrote it, and writes after. */
  const overwritten = (image: Pushed, timesMax: number): RegistryAccess => {
    let times = 0;
    return {
      ...image.both,
      async putManifest(repository, reference, manifest) {
        const answer = await image.both.putManifest(repository, reference, manifest);
        if (!reference.includes(':') && ++times <= timesMax) {
          await overwrite(image);
        }
        return answer;
      },
    };
  };

  test('loses nobody who signs at the same moment', async () => {
    const image = await pushed();
    const attached = await attachNew(image, overwritten(image, 2));
    const listed = (await image.list()).map(({ digest }) => digest);
    expect(listed).toHaveLength(2);
    expect(listed).toContain(attached.signature);
  });

  test('tells who is written over again and again', async () => {
    const image = await pushed();
    const attached = attachNew(image, overwritten(image, Infinity));
    await expect(attached).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('is not listed'),
    });
  });

  test('is not overwritten by one who cannot read the list', async () => {
    const image = await pushed();
    const { signature } = await attachNew(image, image.both);
    const blind = await image.as(PUSH.filter((permission) => permission !== 'ecr:BatchGetImage'));
    await expect(attachNew(image, blind)).rejects.toMatchObject({ kind: 'auth' });
    expect((await image.list()).map(({ digest }) => digest)).toEqual([signature]);
  });

  test('whose tags do not move says so', async () => {
    const image = await pushed('IMMUTABLE');
    await attachNew(image, image.both);
    await expect(attachNew(image, image.both)).rejects.toThrow('does not allow tags to be moved');
  });
});

describe('the registry refuses', () => {
  test('a credential of another repository', async () => {
    const [mine, theirs] = [await pushed(), await pushed()];
    const attached = attachNew(theirs, await mine.as(PUSH));
    await expect(attached).rejects.toMatchObject({ kind: 'auth' });
  });

  test('a wrong password, and nobody at all', async () => {
    const { repository, subject } = await pushed();
    const { host } = world.registry;
    for (const credentials of [{ username: 'AWS', password: 'wrong' }, undefined]) {
      const registry = openRegistry({ host, credentials });
      const looked = registry.headManifest(repository, subject.digest);
      await expect(looked).rejects.toMatchObject({ kind: 'auth' });
      await expect(looked).rejects.not.toThrow('wrong');
    }
  });

  test('an image that is not there', async () => {
    const { repository, both } = await pushed();
    expect(await both.headManifest(repository, digestOf(Buffer.from('other')))).toBeUndefined();
  });
});

describe('other registries', () => {
  const answers = (...responses: (Response | Error)[]): { registry: RegistryAccess; sent: Request[] } => {
    const sent: Request[] = [];
    const send: typeof fetch = async (input, init) => {
      sent.push(new Request(input, { ...init, redirect: 'follow' }));
      const next = responses.shift() ?? new Error('nothing more');
      if (next instanceof Error) throw next;
      return next;
    };
    const credentials = { username: 'me', password: 'secret' };
    return { registry: openRegistry({ host: 'r.example', credentials, fetch: send, retryMs: 1 }), sent };
  };
  const challenge = (text: string) =>
    new Response(null, { status: 401, headers: { 'www-authenticate': text } });
  const manifest = Buffer.from('{}');
  const found = () => new Response(manifest, { status: 200 });

  test('one that lists by itself needs no tag', async () => {
    const subject = { mediaType: 'a/b', digest: digestOf(manifest), size: 2 };
    const put = () => new Response(null, { status: 201, headers: { 'oci-subject': subject.digest } });
    const blob = () => new Response(null, { status: 200 });
    const { registry, sent } = answers(blob(), blob(), put());
    const attached = await attach({
      registry,
      repository: 'a',
      subject,
      signature: await signatureOf(subject),
    });
    expect(attached.listedBy).toBe('registry');
    expect(sent.map(({ method }) => method)).toEqual(['HEAD', 'HEAD', 'PUT']);
  });

  test('one with Basic gets the password, over TLS', async () => {
    const { registry, sent } = answers(challenge('Basic realm="r"'), found());
    await registry.getManifest('a', digestOf(manifest));
    expect(sent[1]?.headers.get('authorization')).toBe(`Basic ${btoa('me:secret')}`);
    expect(sent[1]?.url).toMatch(/^https:/);
  });

  test('one that wants the password in the clear does not get it', async () => {
    const { registry, sent } = answers(challenge('Bearer realm="http://r.example/token"'));
    await expect(registry.getManifest('a', 'sha256:0')).rejects.toThrow('unencrypted');
    expect(sent).toHaveLength(1);
  });

  test('an upload elsewhere goes without the token', async () => {
    const begun = new Response(null, { status: 202, headers: { location: 'https://store.example/up?a=1' } });
    const { registry, sent } = answers(
      challenge('Basic realm="r"'),
      new Response(null, { status: 404 }),
      begun,
      new Response(null, { status: 201 }),
    );
    await registry.pushBlob('a', manifest);
    expect(sent[2]?.headers.get('authorization')).toMatch(/^Basic/);
    expect(sent[3]?.headers.get('authorization')).toBeNull();
    expect(sent[3]?.url).toBe(
      `https://store.example/up?a=1&digest=${encodeURIComponent(digestOf(manifest))}`,
    );
  });

  test.each(['localhost.example', '127.0.0.1.example'])(
    'one that is merely called like this machine is asked over TLS: %s',
    async (host) => {
      const asked: string[] = [];
      const send: typeof fetch = async (input) => {
        asked.push(new Request(input).url);
        return found();
      };
      await openRegistry({ host, fetch: send }).getManifest('a', digestOf(manifest));
      expect(asked).toEqual([expect.stringMatching(/^https:/)]);
    },
  );

  test('one that leads a push elsewhere is not followed', async () => {
    const paths: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      paths.push(url);
      response.writeHead(url === '/elsewhere' ? 201 : 307, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const registry = openRegistry({ host: `127.0.0.1:${port}`, retryMs: 1 });
    const pushing = registry.putManifest('a', 'latest', { mediaType: 'a/b', bytes: manifest });
    await expect(pushing.finally(() => server.close())).rejects.toMatchObject({ kind: 'failed' });
    expect(paths).not.toContain('/elsewhere');
  });

  test('one that is busy is asked again, three times in all', async () => {
    const busy = () => new Response(null, { status: 503, headers: { 'retry-after': '0' } });
    const second = answers(new Error('reset'), busy(), found());
    expect(await second.registry.getManifest('a', digestOf(manifest))).toEqual(manifest);
    const never = answers(busy(), busy(), busy());
    await expect(never.registry.getManifest('a', 'sha256:0')).rejects.toMatchObject({ kind: 'failed' });
    const silent = answers();
    await expect(silent.registry.getManifest('a', 'sha256:0')).rejects.toThrow('does not answer');
    expect(silent.sent).toHaveLength(3);
  });

  test('one that sends other bytes, or too many, or does not tell what it has, is not believed', async () => {
    const other = answers(found());
    await expect(other.registry.getManifest('a', 'sha256:00')).rejects.toThrow('does not match its digest');
    const endless = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1024 * 1024)) });
    const large = answers(new Response(endless));
    await expect(large.registry.getManifest('a', 'sha256:00')).rejects.toThrow('sent more than');
    const silent = answers(new Response(null, { status: 200 }));
    await expect(silent.registry.headManifest('a', 'sha256:00')).rejects.toThrow('did not describe');
  });
});
