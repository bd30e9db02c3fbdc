import { CreateRepositoryCommand } from '@aws-sdk/client-ecr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findImageEvidence } from '../../functions/content/image-evidence.ts';
import { logIn } from '../../functions/storage/own-registry-login.ts';
import { judgeTrust, type Question } from '../../functions/trust/trust.ts';
import type { Attachment, Descriptor, Verification } from '../../functions/trust/verification.ts';
import { attach } from '../../sdk/signing/attach.ts';
import { descriptorOf, EMPTY, INDEX_TYPE, MANIFEST_TYPE, referrersTag } from '../../sdk/signing/oci.ts';
import { openRegistry, type RegistryAccess } from '../../sdk/signing/registry-access.ts';
import { DEEP } from '../deep.ts';
import { type EcrWorld, openEcrWorld } from '../local/registry/ecr-world.ts';
import { type Genuine, genuineOnes, mutations } from './admission-corpus.ts';
import { ask, draftEnvelope, ENVELOPE, kitOf, type Mutation, places, REPOSITORY } from './admission-kit.ts';

// The corpus again, pushed to a real registry and found there as the platform finds it.

const MUTATED = DEEP ? 150 : 15;
const GENUINE = DEEP ? 105 : 15;
const AT_ONCE = 8;

const SIGNATURE = 'application/vnd.cncf.notary.signature';
const PROVENANCE = 'application/vnd.in-toto+json';
const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';
const CONFIG = Buffer.from('{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}');
const LAYER = Buffer.from('a layer');

const kit = kitOf('P-256');

let world: EcrWorld;
let registry: RegistryAccess;

beforeAll(async () => {
  world = await openEcrWorld();
  await world.operator.send(
    new CreateRepositoryCommand({ repositoryName: REPOSITORY, imageTagMutability: 'MUTABLE' }),
  );
  const operator = world.principals.operator();
  // The platform's own client is built from these when it is first asked.
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: world.url,
    AWS_ACCESS_KEY_ID: operator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: operator.secretAccessKey,
  });
  const password = await world.password(operator);
  registry = openRegistry({ host: world.registry.host, credentials: { username: 'AWS', password } });
  for (const blob of [CONFIG, LAYER, EMPTY]) await registry.pushBlob(REPOSITORY, blob);
});

afterAll(() => world?.close());

async function put(manifest: object, reference?: string, mediaType = MANIFEST_TYPE): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(manifest));
  const descriptor = descriptorOf(mediaType, bytes);
  await registry.putManifest(REPOSITORY, reference ?? descriptor.digest, { mediaType, bytes });
  return descriptor;
}

/** Each of them another. */
const pushImage = (name: string, reference?: string): Promise<Descriptor> =>
  put(
    {
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: descriptorOf('application/vnd.oci.image.config.v1+json', CONFIG),
      layers: [descriptorOf('application/vnd.oci.image.layer.v1.tar', LAYER)],
      annotations: { name },
    },
    reference,
  );

/** A manifest about another, as anybody with the right to push could write it. */
async function refer(
  subject: Descriptor,
  { mediaType, bytes }: Attachment,
  artifactType: string,
  change: object = {},
): Promise<Descriptor & { artifactType: string }> {
  await registry.pushBlob(REPOSITORY, Buffer.from(bytes));
  const referrer = await put({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    artifactType,
    config: descriptorOf(EMPTY_TYPE, EMPTY),
    layers: [descriptorOf(mediaType, bytes)],
    subject,
    ...change,
  });
  return { ...referrer, artifactType };
}

const list = (subject: Descriptor, manifests: object[]): Promise<Descriptor> =>
  put({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }, referrersTag(subject.digest), INDEX_TYPE);

async function attachAll(
  subject: Descriptor,
  { signatures, provenances }: Question['evidence'],
): Promise<void> {
  const referrers = [
    ...signatures.map((each) => ({ each, type: SIGNATURE })),
    ...provenances.map((each) => ({ each, type: PROVENANCE })),
  ];
  const listed = [];
  for (const { each, type } of referrers) listed.push(await refer(subject, each, type));
  await list(subject, listed);
}

async function judge(question: Question): Promise<Verification> {
  const { digest } = question.descriptor;
  return judgeTrust({
    ...question,
    evidence: await findImageEvidence({ repository: REPOSITORY, digest }, await logIn()),
  });
}

/** So many at once: the registry writes each to the disk. */
async function forEach<T>(all: T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const next = async (): Promise<void> => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) await work(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** A registry takes no manifest that names something by no media type, and nothing that is empty. */
function isPushable({ evidence }: Question): boolean {
  const attached = [...evidence.signatures, ...evidence.provenances];
  return (
    !evidence.isContentAbsent &&
    attached.every(({ mediaType, bytes }) => /^[a-z]+\/[a-z+.0-9-]+$/.test(mediaType) && bytes.length > 0)
  );
}

const some = <T>(all: T[], count: number): T[] =>
  places(all.length, count).flatMap((place) => all[place] ?? []);

describe('through a registry', () => {
  test(`${MUTATED} of the corpus are refused, each for what is wrong with it`, async () => {
    // Not all of them can be pushed.
    const chosen = some(mutations(), Math.ceil(MUTATED * 1.2));
    const surprises: unknown[] = [];
    let judged = 0;
    await forEach(chosen, async ({ how, expects, make }: Mutation) => {
      const question = make(await pushImage(how));
      if (!isPushable(question)) return;
      await attachAll(question.descriptor, question.evidence);
      const { verdict, fault } = await judge(question);
      judged += 1;
      // What is too long is not even fetched.
      const codes = expects && [...expects, 'signature.none', 'provenance.none'];
      if (verdict !== 'refused' || !fault || (codes && !codes.includes(fault.code)))
        surprises.push({ how, expects, verdict, fault });
    });
    expect(surprises).toEqual([]);
    expect(judged).toBeGreaterThanOrEqual(MUTATED);
  }, 120_000);

  test(`${GENUINE} that are right are admitted, attached by the signing library`, async () => {
    const chosen = some(genuineOnes(), GENUINE);
    const surprises: unknown[] = [];
    await forEach(chosen, async ({ how, make }: Genuine) => {
      const question = make(await pushImage(how));
      const { signatures, provenances } = question.evidence;
      const [signature, ...others] = signatures;
      if (signature && others.length === 0 && provenances.length <= 1)
        await attach({
          registry,
          repository: REPOSITORY,
          subject: question.descriptor,
          signature: Buffer.from(signature.bytes),
          ...(provenances[0] && { provenance: Buffer.from(provenances[0].bytes) }),
        });
      else await attachAll(question.descriptor, question.evidence);
      const verification = await judge(question);
      if (verification.verdict !== 'verified') surprises.push({ how, verification });
    });
    expect(chosen).toHaveLength(GENUINE);
    expect(surprises).toEqual([]);
  }, 120_000);
});

describe('what is attached', () => {
  const signatureOf = (subject: Descriptor): Attachment => ({
    mediaType: ENVELOPE,
    bytes: draftEnvelope(kit, subject),
  });
  const verdictOn = async (subject: Descriptor): Promise<string> => {
    const { verdict, fault } = await judge(ask(kit, subject, Buffer.alloc(0)));
    return fault?.code ?? verdict;
  };

  test('to an image says nothing of what its tag stands for later', async () => {
    const signed = await pushImage('moved, before', 'latest');
    await list(signed, [await refer(signed, signatureOf(signed), SIGNATURE)]);
    const moved = await pushImage('moved, after', 'latest');
    const named = await registry.headManifest(REPOSITORY, 'latest');
    expect(named?.digest).toBe(moved.digest);
    expect(await verdictOn(signed)).toBe('verified');
    expect(await verdictOn(moved)).toBe('signature.none');
  });

  test('counts no more once it is taken off the list, and again when it is back', async () => {
    const image = await pushImage('stripped');
    const referrer = await refer(image, signatureOf(image), SIGNATURE);
    expect(await verdictOn(image)).toBe('signature.none');
    await list(image, [referrer]);
    expect(await verdictOn(image)).toBe('verified');
    await list(image, []);
    expect(await verdictOn(image)).toBe('signature.none');
  });

  test('to another image does not count on the list of this one', async () => {
    const other = await pushImage('foreign, theirs');
    const foreign = await refer(other, signatureOf(other), SIGNATURE);
    const image = await pushImage('foreign, ours');
    await list(image, [foreign]);
    expect(await verdictOn(image)).toBe('signature.none');
  });

  test('to another image and attached here is about another image', async () => {
    const other = await pushImage('reused, theirs');
    const image = await pushImage('reused, ours');
    await list(image, [await refer(image, signatureOf(other), SIGNATURE)]);
    expect(await verdictOn(image)).toBe('signature.target');
  });

  test('about another image does not count, even where the signature is over this one', async () => {
    const other = await pushImage('crossed, theirs');
    const image = await pushImage('crossed, ours');
    await list(image, [await refer(other, signatureOf(image), SIGNATURE)]);
    expect(await verdictOn(image)).toBe('signature.none');
  });

  test('is found among things that are no signatures', async () => {
    const image = await pushImage('junk');
    const other = await pushImage('junk, another');
    const good = signatureOf(image);
    const junk = [
      { ...other, artifactType: SIGNATURE },
      { ...other, artifactType: 'application/vnd.example.sbom' },
      await refer(
        image,
        { mediaType: 'text/plain', bytes: Buffer.from('hello') },
        'application/vnd.example.note',
      ),
      await refer(image, { mediaType: ENVELOPE, bytes: Buffer.from('{}') }, SIGNATURE),
      await refer(image, good, SIGNATURE, {
        layers: [descriptorOf(ENVELOPE, good.bytes), descriptorOf('text/plain', LAYER)],
      }),
      await refer(image, good, SIGNATURE, { layers: [] }),
    ];
    await list(image, junk);
    expect(await verdictOn(image)).toBe('signature.malformed');
    await list(image, [...junk, await refer(image, good, SIGNATURE)]);
    expect(await verdictOn(image)).toBe('verified');
  });

  test('does not count where the list is no list', async () => {
    const image = await pushImage('no list');
    await pushImage('in the place of a list', referrersTag(image.digest));
    expect(await verdictOn(image)).toBe('signature.none');
    // Not even where the signature itself stands in its place.
    const { bytes } = signatureOf(image);
    await registry.pushBlob(REPOSITORY, Buffer.from(bytes));
    await put(
      {
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        artifactType: SIGNATURE,
        config: descriptorOf(EMPTY_TYPE, EMPTY),
        layers: [descriptorOf(ENVELOPE, bytes)],
        subject: image,
      },
      referrersTag(image.digest),
    );
    expect(await verdictOn(image)).toBe('signature.none');
  });

  test.each([
    ['says it is COSE', { mediaType: 'application/cose' }, 'signature.format'],
    ['says it is longer than it is', { size: 1 }, 'signature.none'],
  ])('does not count where it %s', async (how, change, expected) => {
    const image = await pushImage(`described wrongly: ${how}`);
    const good = signatureOf(image);
    const layer = { ...descriptorOf(ENVELOPE, good.bytes), ...change };
    await list(image, [await refer(image, good, SIGNATURE, { layers: [layer] })]);
    expect(await verdictOn(image)).toBe(expected);
  });

  test('counts as older tools attach it, by the type of its configuration', async () => {
    const image = await pushImage('older');
    const referrer = await refer(image, signatureOf(image), SIGNATURE, {
      artifactType: undefined,
      config: descriptorOf(SIGNATURE, EMPTY),
    });
    await list(image, [referrer]);
    expect(await verdictOn(image)).toBe('verified');
  });

  test('to an index says nothing of its platforms, nor theirs of the index', async () => {
    const platform = await pushImage('a platform');
    const manifests = [{ ...platform, platform: { os: 'linux', architecture: 'amd64' } }];
    const index = await put({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }, undefined, INDEX_TYPE);
    await list(index, [await refer(index, signatureOf(index), SIGNATURE)]);
    expect(await verdictOn(index)).toBe('verified');
    expect(await verdictOn(platform)).toBe('signature.none');
  });

  test('to what is not there any more does not bring it back', async () => {
    const image = descriptorOf(MANIFEST_TYPE, Buffer.from('never pushed'));
    await list(image, [await refer(image, signatureOf(image), SIGNATURE)]);
    expect(await verdictOn(image)).toBe('content.absent');
  });
});
