import { describe, expect, test } from 'vitest';
import { type OneImage, readConfig, readManifest, readMember } from '../../functions/content/image.ts';
import type { Refusal } from '../../functions/platform/errors.ts';
import {
  describeContent,
  digestOf,
  DOCKER_LIST,
  DOCKER_MANIFEST,
  OCI_CONFIG,
  OCI_INDEX,
  OCI_LAYER,
  OCI_MANIFEST,
  onPlatform,
  planConfig,
  planIndex,
  planManifest,
} from '../artifacts/planned-image.ts';

const GIB = 1024 ** 3;

/** The code a rule refuses with, or what it said. */
function outcome<T>(rule: () => T): T | string {
  try {
    return rule();
  } catch (error) {
    return (error as Refusal).code;
  }
}

const read = (mediaType: string, text: string) =>
  outcome(() => readManifest({ mediaType, bytes: Buffer.from(text) }));

const layers = (count: number, more: object = {}) =>
  Array.from({ length: count }, () => ({ ...describeContent(OCI_LAYER, 'a layer'), ...more }));

describe('the manifest of an image', () => {
  test.each([
    [OCI_MANIFEST, planManifest()],
    [OCI_MANIFEST, planManifest(planConfig(), { mediaType: undefined })],
    [OCI_MANIFEST, planManifest(planConfig(), { layers: layers(127) })],
    [OCI_MANIFEST, planManifest(planConfig(), { annotations: { Layers: 'a word', layers: 'another' } })],
    [
      DOCKER_MANIFEST,
      planManifest(planConfig(), {
        mediaType: DOCKER_MANIFEST,
        config: describeContent('application/vnd.docker.container.image.v1+json', planConfig()),
        layers: [describeContent('application/vnd.docker.image.rootfs.diff.tar.gzip', 'a layer')],
      }),
    ],
  ])('is taken as %s: %.60s', (mediaType, text) => {
    expect(read(mediaType, text)).toMatchObject({ kind: 'image' });
  });

  const artifact = (more: object) => planManifest(planConfig(), more);
  test.each([
    ['not JSON', OCI_MANIFEST, '<html>', 'artifact.unfit'],
    ['of another schema', OCI_MANIFEST, artifact({ schemaVersion: 1 }), 'artifact.unfit'],
    ['of another type', 'application/vnd.oci.artifact.manifest.v1+json', artifact({}), 'artifact.unfit'],
    ['an HTML page', 'text/html', artifact({}), 'artifact.unfit'],
    ['called an index', OCI_MANIFEST, artifact({ mediaType: OCI_INDEX }), 'artifact.mismatched'],
    ['image and index at once', OCI_MANIFEST, artifact({ manifests: [] }), 'artifact.unfit'],
    [
      'the manifest of a signature',
      OCI_MANIFEST,
      artifact({ artifactType: 'application/vnd.cncf.notary.signature' }),
      'artifact.unfit',
    ],
    [
      'of a chart, not an image',
      OCI_MANIFEST,
      artifact({ config: describeContent('application/vnd.cncf.helm.config.v1+json', '{}') }),
      'artifact.unfit',
    ],
    ['without layers', OCI_MANIFEST, artifact({ layers: [] }), 'artifact.unfit'],
    ['with 128 layers', OCI_MANIFEST, artifact({ layers: layers(128) }), 'artifact.unfit'],
    [
      'with a layer that lies elsewhere',
      OCI_MANIFEST,
      artifact({ layers: layers(1, { urls: ['https://example.com/layer'] }) }),
      'artifact.unfit',
    ],
    [
      'with a layer nobody may distribute',
      OCI_MANIFEST,
      artifact({
        layers: layers(1, { mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar' }),
      }),
      'artifact.unfit',
    ],
    [
      'with a foreign layer of Docker’s',
      OCI_MANIFEST,
      artifact({
        layers: layers(1, { mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip' }),
      }),
      'artifact.unfit',
    ],
    [
      'with an encrypted layer',
      OCI_MANIFEST,
      artifact({ layers: layers(1, { mediaType: `${OCI_LAYER}+encrypted` }) }),
      'artifact.unfit',
    ],
    ['too large', OCI_MANIFEST, artifact({ layers: layers(2, { size: 60 * GIB }) }), 'artifact.unfit'],
    ['of a negative size', OCI_MANIFEST, artifact({ layers: layers(1, { size: -1 }) }), 'artifact.unfit'],
    [
      'with a config over a mebibyte',
      OCI_MANIFEST,
      artifact({ config: { ...describeContent(OCI_CONFIG, '{}'), size: 2 ** 20 + 1 } }),
      'artifact.unfit',
    ],
    [
      'with a digest of another kind',
      OCI_MANIFEST,
      artifact({ config: { ...describeContent(OCI_CONFIG, '{}'), digest: `sha512:${'0'.repeat(128)}` } }),
      'artifact.unfit',
    ],
    [
      'with a member twice',
      OCI_MANIFEST,
      planManifest().replace('"layers"', '"layers":[],"layers"'),
      'artifact.unfit',
    ],
    ['with a member in another case', OCI_MANIFEST, artifact({ LAYERS: layers(1) }), 'artifact.unfit'],
    // U+017F folds to s, as Go sees it.
    ['with a member in another letter', OCI_MANIFEST, artifact({ layerſ: layers(1) }), 'artifact.unfit'],
  ])('%s is refused', (_, mediaType, text, code) => {
    expect(read(mediaType, text)).toBe(code);
  });
});

describe('an index', () => {
  const image = planManifest();
  const arm = onPlatform(image, { os: 'linux', architecture: 'arm64', variant: 'v8' });
  const attestation = onPlatform(image, { os: 'unknown', architecture: 'unknown' });
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      onPlatform(image, { os: 'linux', architecture: `arch${index}` }),
    );

  test.each([
    [OCI_INDEX, planIndex([onPlatform(image), arm]), ['linux/amd64', 'linux/arm64/v8']],
    [OCI_INDEX, planIndex([onPlatform(image), attestation]), ['linux/amd64']],
    [DOCKER_LIST, planIndex([onPlatform(image)], { mediaType: DOCKER_LIST }), ['linux/amd64']],
    [OCI_INDEX, planIndex(many(10)), Array.from({ length: 10 }, (_, index) => `linux/arch${index}`)],
  ])('as %s leads to what can be run', (mediaType, text, platforms) => {
    const found = read(mediaType, text) as { members: { platform: string }[] };
    expect(found.members.map(({ platform }) => platform)).toEqual(platforms);
  });

  test.each([
    ['for nothing that runs', planIndex([attestation]), 'artifact.unfit'],
    ['for eleven platforms', planIndex(many(11)), 'artifact.unfit'],
    ['with two images for one platform', planIndex([onPlatform(image), onPlatform(image)]), 'artifact.unfit'],
    ['without platforms', planIndex([describeContent(OCI_MANIFEST, image)]), 'artifact.unfit'],
    ['with the layers of an image', planIndex([onPlatform(image)], { layers: [] }), 'artifact.unfit'],
    ['of other things', planIndex([onPlatform(image)], { artifactType: 'a/b' }), 'artifact.unfit'],
    ['called an image', planIndex([onPlatform(image)], { mediaType: OCI_MANIFEST }), 'artifact.mismatched'],
    ['with hundreds of members', planIndex(Array.from({ length: 51 }, () => attestation)), 'artifact.unfit'],
  ])('%s is refused', (_, text, code) => {
    expect(read(OCI_INDEX, text)).toBe(code);
  });

  test.each([
    ['for nothing that runs', planIndex([attestation]), 'Found images: 0, attestations: 1.'],
    ['for eleven platforms', planIndex([...many(11), attestation]), 'Found images: 11, attestations: 1.'],
    ['with two for one platform', planIndex([arm, arm]), 'several images for linux/arm64/v8'],
    ['without platforms', planIndex([describeContent(OCI_MANIFEST, image)]), digestOf(image)],
    ['of charts', planIndex([], { artifactType: 'application/x.chart' }), 'application/x.chart'],
    ['of something', planIndex([], { artifactType: '<script>' }), 'an unknown type'],
  ])('%s is refused with what was found, and what to do', (_, text, found) => {
    const told = () => readManifest({ mediaType: OCI_INDEX, bytes: Buffer.from(text) });
    expect(told).toThrow(found);
    expect(told).toThrow('Register the digest of one of its images instead');
  });

  test('describes each image as it is, and images only', () => {
    const member = (mediaType: string, text: string, more: object = {}) =>
      outcome(() =>
        readMember({ mediaType, bytes: Buffer.from(text) }, { ...describeContent(mediaType, text), ...more }),
      );
    expect(member(OCI_MANIFEST, image)).toMatchObject({ kind: 'image' });
    expect(member(OCI_MANIFEST, image, { size: 1 })).toBe('artifact.mismatched');
    expect(member(OCI_MANIFEST, image, { mediaType: DOCKER_MANIFEST })).toBe('artifact.mismatched');
    expect(member(OCI_INDEX, planIndex([onPlatform(image)]))).toBe('artifact.unfit');
  });
});

describe('a config', () => {
  const look = (text: string, platform?: string) =>
    outcome(() => {
      const image = read(OCI_MANIFEST, planManifest(text)) as OneImage;
      return readConfig(Buffer.from(text), { digest: digestOf('image'), image, platform });
    });

  test('tells who the process is and what it listens on', () => {
    const config = planConfig({ User: 'app', ExposedPorts: { '80/tcp': {}, '53/udp': {} } });
    expect(look(config)).toEqual({
      platform: 'linux/amd64',
      digest: digestOf('image'),
      size_bytes: config.length + 'a layer'.length,
      user: 'app',
      exposed_ports: ['80/tcp', '53/udp'],
    });
  });

  test('may say nothing of either', () => {
    const bare = JSON.stringify({ architecture: 'arm64', os: 'linux', variant: 'v8', config: null });
    expect(look(bare)).toMatchObject({ platform: 'linux/arm64/v8', user: '', exposed_ports: [] });
    expect(look(planConfig({ Env: null, ExposedPorts: null, User: null }))).toMatchObject({ user: '' });
  });

  test('stands under the platform its index says', () => {
    const arm = planConfig({}, { architecture: 'arm64' });
    expect(look(arm, 'linux/arm64/v8')).toMatchObject({ platform: 'linux/arm64/v8' });
    expect(look(arm, 'linux/amd64')).toBe('artifact.mismatched');
    expect(look(arm, 'linux/arm64x')).toBe('artifact.mismatched');
  });

  test.each([
    ['not JSON', 'no'],
    ['for another system', planConfig({}, { os: 'windows' })],
    ['without a system', planConfig({}, { os: undefined })],
    ['that sets LD_PRELOAD', planConfig({ Env: ['PATH=/bin', 'LD_PRELOAD=/evil.so'] })],
    ['that sets LD_ alone', planConfig({ Env: ['LD_=x'] })],
    ['that sets it in another spelling', planConfig({ env: ['LD_PRELOAD=/evil.so'] })],
    ['that hides it in another config', planConfig().replace('"config"', '"Config":{},"config"')],
    ['that has two configs', planConfig().replace('"config"', '"config":{"Env":["LD_AUDIT=x"]},"config"')],
    ['with a port that is none', planConfig({ ExposedPorts: { 'eighty/tcp': {} } })],
    [
      'with a port too many',
      planConfig({
        ExposedPorts: Object.fromEntries(Array.from({ length: 101 }, (_, port) => [`${port}/tcp`, {}])),
      }),
    ],
    ['with a user nobody can read', planConfig({ User: 'a\u0007' })],
    ['with a user without end', planConfig({ User: 'a'.repeat(257) })],
  ])('%s is refused', (_, text) => {
    expect(look(text)).toBe('artifact.unfit');
  });

  test('that sets a variable of the linker is refused by its name, and its value is not repeated', () => {
    const image = read(OCI_MANIFEST, planManifest()) as OneImage;
    const text = planConfig({ Env: ['LD_LIBRARY_PATH=/a/secret/place'] });
    const look = () =>
      readConfig(Buffer.from(text), {
        digest: digestOf('image'),
        image: { ...image, config: describeContent(OCI_CONFIG, text) },
      });
    expect(look).toThrow(/LD_LIBRARY_PATH/);
    expect(look).not.toThrow(/secret/);
  });

  test('of another size than the manifest says is refused', () => {
    const image = read(OCI_MANIFEST, planManifest()) as OneImage;
    const bytes = Buffer.from(`${planConfig()} `);
    expect(outcome(() => readConfig(bytes, { digest: digestOf('image'), image }))).toBe(
      'artifact.mismatched',
    );
  });
});
