import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateRepositoryCommand } from '@aws-sdk/client-ecr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { openEcrWorld, PUSH, type EcrWorld } from '../local/registry/ecr-world.ts';
import { OciClient } from '../local/registry/oci-client.ts';
import { gpuaas, spawnGpuaas } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-'));
const at = (name: string) => join(folder, name);
const { keyPem, chainPem, rootPem } = createDevelopmentChain({ organisation: 'Example' });
const other = createDevelopmentChain({ organisation: 'Other' });
writeFileSync(at('key.pem'), keyPem);
writeFileSync(at('chain.pem'), chainPem);
writeFileSync(at('root.pem'), rootPem);
writeFileSync(at('other-key.pem'), other.keyPem);
writeFileSync(at('weights.bin'), 'weights');
writeFileSync(
  at('predicate.json'),
  JSON.stringify({
    buildDefinition: { buildType: 'https://ci.example.com/v1', externalParameters: { source: 'git' } },
    runDetails: { builder: { id: 'https://ci.example.com' }, byproducts: [{ name: 'log' }] },
  }),
);
afterAll(() => rmSync(folder, { recursive: true }));

const WITH_KEY = ['--key', at('key.pem'), '--chain', at('chain.pem')];
const WEIGHTS_DIGEST = 'sha256:9c47eb6c810c9d57e8cb5f3418fa9f2e61b9d34e77bf5c7bd7b8d9be55b0e0a3';

describe('a process', () => {
  test('helps', async () => {
    const { code, out, err } = await spawnGpuaas(['artifact', 'sign', '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('gpuaas artifact sign [options] <what>');
  });

  test('refuses a flag it does not know, and a key that does not fit', async () => {
    const misused = await spawnGpuaas(['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--force']);
    expect(misused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('unknown option') });
    const args = [
      'artifact',
      'sign',
      at('weights.bin'),
      '--key',
      at('other-key.pem'),
      '--chain',
      at('chain.pem'),
    ];
    const refused = await spawnGpuaas(args);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('certificate first') });
  });
});

describe('the command line', () => {
  test.each([
    [['--help'], 'Commands:'],
    [['artifact', '--help'], 'sign'],
    [['artifact', 'sign', '--help'], '--registry-password-stdin'],
    [['artifact', 'inspect', '--help'], '<envelope>'],
    [['certificate', 'create-dev', '--help'], '--organisation'],
  ])('%j is answered on standard output', async (args, told) => {
    const { code, out, err } = await gpuaas(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(told);
    expect(out).not.toContain('\u001b');
  });

  test.each<[string, string[], string]>([
    ['nothing', [], 'Usage:'],
    ['an unknown noun', ['image'], 'unknown command'],
    ['an unknown flag', ['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--force'], 'unknown option'],
    ['no chain', ['artifact', 'sign', at('weights.bin'), '--key', at('key.pem')], '--chain'],
    [
      'no key',
      ['artifact', 'sign', at('weights.bin'), '--chain', at('chain.pem')],
      'Exactly one key is needed',
    ],
    [
      'two keys',
      ['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--kms-key', 'a'],
      'Exactly one key is needed',
    ],
    ['a tag', ['artifact', 'sign', 'r.example/team/app:latest', ...WITH_KEY], 'a tag can be moved'],
    [
      'a strange time',
      ['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--expires', '3w'],
      '--expires 90d',
    ],
    ['no time', ['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--expires', '0d'], '--expires 90d'],
    [
      'a flag for images with a file',
      ['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--registry-user', 'AWS'],
      'is for images',
    ],
    [
      'a flag for files with an image',
      ['artifact', 'sign', `r.example/a@${WEIGHTS_DIGEST}`, ...WITH_KEY, '--intent', 'i.json'],
      'is for files',
    ],
    [
      'a password without a user',
      ['artifact', 'sign', `r.example/a@${WEIGHTS_DIGEST}`, ...WITH_KEY, '--registry-password-stdin'],
      'must be given together',
    ],
    [
      'an unknown type of key',
      ['certificate', 'create-dev', '--organisation', 'A', '--out', at('new'), '--key-type', 'P-192'],
      'Use one of P-256',
    ],
  ])('%s ends with 2, and says what to do', async (_name, args, told) => {
    const { code, out, err } = await gpuaas(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(told);
  });
});

describe('a file', () => {
  test.each<[string, string[], number, string]>([
    ['that is not there', [at('nowhere.bin'), ...WITH_KEY], 4, 'There is no file'],
    ['that is a folder', [folder, ...WITH_KEY], 1, 'cannot be read'],
    [
      'with a key that is not there',
      [at('weights.bin'), '--key', at('no.pem'), '--chain', at('chain.pem')],
      4,
      'no.pem',
    ],
    [
      'with a key of somebody else',
      [at('weights.bin'), '--key', at('other-key.pem'), '--chain', at('chain.pem')],
      1,
      'certificate first',
    ],
    [
      'with a chain for a key',
      [at('weights.bin'), '--key', at('chain.pem'), '--chain', at('chain.pem')],
      1,
      'private key in PEM',
    ],
    [
      'with no provenance in the file',
      [at('weights.bin'), ...WITH_KEY, '--provenance', at('key.pem')],
      1,
      'is not JSON',
    ],
    [
      'with a strange intent',
      [at('weights.bin'), ...WITH_KEY, '--intent', at('predicate.json')],
      1,
      'Save the answer',
    ],
  ])('%s is not signed', async (_name, args, code, told) => {
    const ended = await gpuaas(['artifact', 'sign', ...args]);
    expect(ended).toMatchObject({ code, out: '' });
    expect(ended.err).toContain(told);
    expect(ended.err).not.toMatch(/-----BEGIN|at .*\.ts:/);
  });

  test('is signed with its provenance, and both can be inspected', async () => {
    const args = ['artifact', 'sign', at('weights.bin'), ...WITH_KEY, '--provenance', at('predicate.json')];
    const signed = await gpuaas([...args, '--expires', '90d', '--json']);
    expect(signed).toMatchObject({ code: 0, err: expect.stringContaining('Signed ') });
    const answer = JSON.parse(signed.out) as { digest: string };
    expect(answer).toEqual({
      media_type: 'application/octet-stream',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      size_bytes: 7,
      signature: at('weights.bin.jws.sig'),
      provenance: at('weights.bin.intoto.dsse'),
      uploaded: false,
    });

    const shown = await gpuaas(['artifact', 'inspect', at('weights.bin.jws.sig'), '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({
      kind: 'signature',
      algorithm: 'ES256',
      signature_fits: true,
      expires_at: expect.any(String),
      target: { digest: answer.digest, size: 7 },
      certificates: [{ subject: 'CN=development,O=Example' }, { subject: 'CN=development root,O=Example' }],
    });
    const plain = await gpuaas(['artifact', 'inspect', at('weights.bin.intoto.dsse'), '--quiet']);
    expect(plain).toMatchObject({ code: 0, err: '' });
    expect(plain.out).toContain('builder_id https://ci.example.com\n');
    expect(plain.out).toContain(`subjects.0.digest.sha256 ${answer.digest.slice(7)}\n`);

    // A statement that a build has signed goes along as it is; one about something else does not.
    const made = ['--provenance', at('weights.bin.intoto.dsse'), '--quiet'];
    const again = await gpuaas([
      'artifact',
      'sign',
      at('weights.bin'),
      ...WITH_KEY,
      ...made,
      '--output',
      at('again.jws.sig'),
    ]);
    expect(again).toEqual({
      code: 0,
      err: '',
      out: `signature ${at('again.jws.sig')}\nprovenance ${at('again.intoto.dsse')}\n`,
    });
    expect(readFileSync(at('again.intoto.dsse'))).toEqual(readFileSync(at('weights.bin.intoto.dsse')));
    const foreign = await gpuaas(['artifact', 'sign', at('key.pem'), ...WITH_KEY, ...made]);
    expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining('about something other') });
  });

  test('that is no envelope is not inspected', async () => {
    const ended = await gpuaas(['artifact', 'inspect', at('weights.bin')]);
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining('COSE') });
  });
});

describe('a certificate for development', () => {
  test('is made once, with a key for nobody else', async () => {
    const args = ['certificate', 'create-dev', '--organisation', 'Example', '--out', at('dev')];
    const made = await gpuaas(args);
    expect(made).toMatchObject({
      code: 0,
      out: `key ${at('dev/key.pem')}\nchain ${at('dev/chain.pem')}\nroot ${at('dev/root.pem')}\n`,
    });
    expect(statSync(at('dev/key.pem')).mode & 0o777).toBe(0o600);
    const before = readFileSync(at('dev/key.pem'));
    const again = await gpuaas(args);
    expect(again).toMatchObject({ code: 5, out: '', err: expect.stringContaining('Use another folder') });
    expect(readFileSync(at('dev/key.pem'))).toEqual(before);
    const signed = await gpuaas([
      'artifact',
      'sign',
      at('weights.bin'),
      '--key',
      at('dev/key.pem'),
      '--chain',
      at('dev/chain.pem'),
      '--quiet',
    ]);
    expect(signed).toEqual({ code: 0, out: `signature ${at('weights.bin.jws.sig')}\n`, err: '' });
  });
});

describe('an image', () => {
  let world: EcrWorld;
  let image: string;
  let password: string;
  const repositoryName = 'gpuaas/apps/example/chat';

  beforeAll(async () => {
    world = await openEcrWorld();
    await world.operator.send(new CreateRepositoryCommand({ repositoryName }));
    const operator = await world.password(world.principals.operator());
    const images = new OciClient(world.registry.url, repositoryName, operator);
    const { digest } = await images.push('latest', 'content');
    image = `${world.registry.host}/${repositoryName}@${digest}`;
    password = await world.password(world.session(PUSH, [repositoryName]));
  });

  afterAll(() => world?.close());

  const sign = (what: string, input: string, command: typeof gpuaas, ...more: string[]) =>
    command(
      ['artifact', 'sign', what, ...WITH_KEY, '--registry-user', 'AWS', '--registry-password-stdin', ...more],
      { input },
    );

  test('is signed with a password from standard input, and signed again beside the first signature', async () => {
    const provenance = ['--provenance', at('predicate.json'), '--output', at('image.jws')];
    const signed = await sign(image, `${password}\n`, spawnGpuaas, ...provenance, '--json');
    expect(signed).toMatchObject({ code: 0, err: expect.stringContaining('register the digest') });
    expect(JSON.parse(signed.out)).toMatchObject({
      digest: image.split('@')[1],
      media_type: 'application/vnd.oci.image.manifest.v1+json',
      signature: expect.stringMatching(/^sha256:/),
      provenance: expect.stringMatching(/^sha256:/),
      listed_by: 'tag',
    });
    expect(readFileSync(at('image.jws'), 'utf8')).toContain('"signature"');
    expect(readFileSync(at('image.intoto.dsse'), 'utf8')).toContain('"payloadType"');
    const again = await sign(image, password, gpuaas);
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^signature sha256:[0-9a-f]{64}\n$/),
    });
  });

  test('is not signed with a wrong password, nor when it is not there', async () => {
    const refused = await sign(image, 'hunter2', gpuaas);
    expect(refused).toMatchObject({ code: 3, out: '', err: expect.stringContaining('publish credential') });
    expect(refused.err).not.toContain('hunter2');
    const absent = await sign(`${image.slice(0, -4)}0000`, password, gpuaas);
    expect(absent).toMatchObject({ code: 4, out: '', err: expect.stringContaining('Push the image first') });
  });
});
