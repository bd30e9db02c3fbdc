import { describe, expect, it } from 'vitest';
import { lintManifest, type Manifest, readManifest } from '../../functions/manifests/manifest.ts';
import { parseYaml } from '../../functions/manifests/manifest-text.ts';
import { dump } from 'js-yaml';
import { flatSample, fullSample, nestedSampleYaml } from './sample-manifests.ts';

const SAMPLES: [string, () => unknown][] = [
  ['the JSON sample', flatSample],
  ['the YAML sample', () => parseYaml(nestedSampleYaml)],
  ['one that says everything', fullSample],
];

function read(sent: unknown): Manifest {
  const result = readManifest(sent);
  if ('problems' in result) throw new Error(JSON.stringify(result.problems, null, 1));
  return result.manifest;
}

describe('A manifest', () => {
  it.each(SAMPLES)('is the same from JSON and from YAML: %s', (_name, sample) => {
    const sent = sample();
    const fromJson = read(JSON.parse(JSON.stringify(sent)));
    expect(read(parseYaml(dump(sent)))).toEqual(fromJson);
    // JSON is YAML, but for tabs.
    expect(read(parseYaml(JSON.stringify(sent, null, 2)))).toEqual(fromJson);
  });

  it.each(SAMPLES)('in canonical form reads to itself: %s', (_name, sample) => {
    const manifest = read(sample());
    expect(read(manifest)).toEqual(manifest);
    expect(JSON.parse(JSON.stringify(manifest))).toStrictEqual(manifest);
  });

  it.each(SAMPLES)('is not changed by being read: %s', (_name, sample) => {
    const sent = sample();
    const before = JSON.stringify(sent);
    read(sent);
    expect(JSON.stringify(sent)).toBe(before);
  });

  it('has two spellings that say the same', () => {
    const { slug, display_name, version, runtime_profile, ...rest } = flatSample();
    const nested = { app: { slug, display_name }, version: { version, runtime_profile, ...rest } };
    expect(read(nested)).toEqual(read(flatSample()));
  });

  it('has its short forms written out', () => {
    const { app, version } = read(flatSample());
    expect(app).toMatchObject({
      runtime_backend: 'launchable_oci',
      category: 'other',
      support_level: 'community',
      ui_kind: 'embedded',
      supported_modes: { operating_modes: ['tenant_dedicated'], control_plane_scopes: ['project'] },
    });
    expect(version.artifacts).toEqual([
      {
        name: 'runtime',
        artifact_kind: 'oci',
        source_type: 'oci_registry',
        repository: 'registry.gpuaas.example.com/apps/jupyter-cuda-dev',
        digest: `sha256:${'ab'.repeat(32)}`,
      },
    ]);
    expect(version.runtime_profile?.components).toMatchObject([
      { name: 'main', ports: [{ container: 8888, protocol: 'tcp', expose: 'embedded_ui_gateway' }] },
    ]);
    expect(version.runtime_profile?.engines).toEqual(['node_agent']);
  });

  it('keeps everything the YAML sample says', () => {
    const sent = parseYaml(nestedSampleYaml) as Manifest;
    expect(read(sent)).toMatchObject(sent);
  });

  it('keeps everything that can be said', () => {
    expect(read(fullSample())).toMatchObject(fullSample());
  });

  it.each(['tokens', 'requests'])('may be metered by %s, which the app counts', (kind) => {
    const { metering } = read({ ...flatSample(), metering: { kind } }).version;
    expect(metering).toEqual({ kind: 'app_units', units: [{ unit: kind }] });
    const both = readManifest({ ...flatSample(), metering: { kind, units: [{ unit: 'images' }] } });
    expect(both).toMatchObject({
      problems: [{ pointer: '/metering/units', detail: 'Expected units only with kind: app_units.' }],
    });
  });

  it('may prepare each container by a command before it is ready', () => {
    const sample = flatSample();
    const prepared = (bootstrap: unknown) => ({
      ...sample,
      runtime_profile: { ...sample.runtime_profile, bootstrap },
    });
    const command = ['prepare', '--once'];
    expect(read(prepared({ command })).version.runtime_profile?.components).toMatchObject([
      { name: 'main', bootstrap: { command, timeout_seconds: 300 } },
    ]);
    const faulty: [unknown, string][] = [
      [{}, '/command'],
      [{ command: 'prepare --once' }, '/command'],
      [{ command: [] }, '/command'],
      [{ command: ['sh', '-c', 'one\ntwo'] }, '/command/2'],
      [{ command, timeout_seconds: 0 }, '/timeout_seconds'],
      [{ command, timeout_seconds: 3601 }, '/timeout_seconds'],
      [{ command, image_ref: 'x' }, '/image_ref'],
    ];
    for (const [bootstrap, at] of faulty)
      expect(readManifest(prepared(bootstrap))).toMatchObject({
        problems: [{ pointer: `/runtime_profile/bootstrap${at}` }],
      });
  });

  it('takes only the parameters it declares, whether it says so or not', () => {
    const sample = fullSample();
    const { additionalProperties: _said, ...parameters } = sample.version.parameters;
    expect(read({ ...sample, version: { ...sample.version, parameters } })).toEqual(read(sample));
  });

  it.each(['slurm', 'k8s', 'ray', 'bare_metal'])(
    'needs no artifact for the backend %s',
    (runtime_backend) => {
      expect(
        read({ slug: 'controller', display_name: 'Controller', version: '1.0', runtime_backend }),
      ).toMatchObject({ version: { artifacts: [], runtime_backend } });
    },
  );

  it('may leave its artifact unbound and its image to it', () => {
    const { artifact_kind: _kind, artifact_ref: _ref, ...rest } = flatSample();
    const { image_ref: _image, ...profile } = rest.runtime_profile;
    const draft = {
      ...rest,
      artifacts: [{ name: 'runtime' }],
      runtime_profile: { ...profile, artifact: 'runtime' },
    };
    expect(read(draft).version.artifacts).toEqual([
      { name: 'runtime', artifact_kind: 'oci', source_type: 'oci_registry' },
    ]);
    expect(lintManifest(read(draft)).map(({ pointer }) => pointer)).toEqual(['/version/artifacts/0/digest']);
  });

  it('is fit for promotion when every artifact is bound and what runs is among them', () => {
    expect(lintManifest(read(flatSample()))).toEqual([]);
    expect(lintManifest(read(fullSample()))).toEqual([]);
    const other = `registry.gpuaas.example.com/apps/jupyter-cuda-dev@sha256:${'ef'.repeat(32)}`;
    const strange = {
      ...flatSample(),
      runtime_profile: { ...flatSample().runtime_profile, image_ref: other },
    };
    expect(lintManifest(read(strange)).map(({ pointer }) => pointer)).toEqual([
      '/version/runtime_profile/components/0/image_ref',
    ]);
  });

  it('is not fit for promotion when its rules no longer hold', () => {
    const manifest = read(fullSample());
    manifest.version.artifacts = [];
    expect(lintManifest(manifest).map(({ pointer }) => pointer)).toContain('/version/artifacts');
  });
});
