import { describe, expect, it } from 'vitest';
import { type Manifest, readManifest } from '../../functions/manifests/manifest.ts';
import { diffManifests } from '../../functions/manifests/manifest-diff.ts';
import { parseYaml } from '../../functions/manifests/manifest-text.ts';
import { flatSample, fullSample, nestedSampleYaml } from './sample-manifests.ts';

function read(sent: unknown): Manifest {
  const result = readManifest(sent);
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.manifest;
}

const full = (): Manifest => read(fullSample());
const slurm = (): Manifest => read(parseYaml(nestedSampleYaml));

type Kind = 'added' | 'removed' | 'changed';

/** What is done to the manifest, where it shows, as what, and whether it breaks something. */
type Row = [
  what: string,
  edit: (manifest: Manifest) => unknown,
  pointer: string,
  kind: Kind,
  breaks: boolean,
];

function properties({ version }: Manifest): Record<string, unknown> {
  if (!version.parameters) throw new Error('The sample has parameters.');
  return version.parameters['properties'] as Record<string, unknown>;
}
const parameter = (manifest: Manifest, name: string): Record<string, unknown> =>
  properties(manifest)[name] as Record<string, unknown>;
function profile({ version }: Manifest): NonNullable<Manifest['version']['runtime_profile']> {
  if (!version.runtime_profile) throw new Error('The sample has a profile.');
  return version.runtime_profile;
}
function first<T>(list: T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error('The sample has one.');
  return item;
}

const PARAMETERS = '/version/parameters';
const PROFILE = '/version/runtime_profile';

const ROWS: Row[] = [
  [
    'another bootstrap',
    (m) => (first(profile(m).components).bootstrap = { command: ['prepare'], timeout_seconds: 1800 }),
    `${PROFILE}/components/0/bootstrap/command/0`,
    'added',
    false,
  ],
  [
    'no bootstrap',
    (m) => delete first(profile(m).components).bootstrap,
    `${PROFILE}/components/0/bootstrap`,
    'removed',
    false,
  ],
  ['another name', (m) => (m.app.display_name = 'Served models'), '/app/display_name', 'changed', false],
  ['another backend', (m) => (m.app.runtime_backend = 'k8s'), '/app/runtime_backend', 'changed', true],
  [
    'an operating mode less',
    (m) => m.app.supported_modes.operating_modes.pop(),
    '/app/supported_modes/operating_modes/1',
    'removed',
    true,
  ],
  [
    'a scope less',
    (m) => m.app.supported_modes.control_plane_scopes.pop(),
    '/app/supported_modes/control_plane_scopes/1',
    'removed',
    true,
  ],
  [
    'a scope more',
    (m) => m.app.supported_modes.control_plane_scopes.push('tenant'),
    '/app/supported_modes/control_plane_scopes/2',
    'added',
    false,
  ],
  [
    'no longer internal',
    (m) => (m.version.internal_testing = false),
    '/version/internal_testing',
    'changed',
    false,
  ],

  [
    'a parameter less',
    (m) => delete properties(m)['packages'],
    `${PARAMETERS}/properties/packages`,
    'removed',
    true,
  ],
  [
    'a parameter more',
    (m) => (properties(m)['extra'] = { type: 'string' }),
    `${PARAMETERS}/properties/extra`,
    'added',
    false,
  ],
  [
    'a parameter required',
    (m) => (m.version.parameters = { ...m.version.parameters, required: ['model', 'cores'] }),
    `${PARAMETERS}/required/1`,
    'added',
    true,
  ],
  [
    'a parameter with a default required',
    (m) => (m.version.parameters = { ...m.version.parameters, required: ['model', 'gpu_count'] }),
    `${PARAMETERS}/required/1`,
    'added',
    false,
  ],
  [
    'a parameter no longer required',
    (m) => (m.version.parameters = { ...m.version.parameters, required: [] }),
    `${PARAMETERS}/required/0`,
    'removed',
    false,
  ],
  [
    'another type',
    (m) => (parameter(m, 'cores')['type'] = 'string'),
    `${PARAMETERS}/properties/cores/type`,
    'changed',
    true,
  ],
  [
    'a wider type',
    (m) => (parameter(m, 'cores')['type'] = 'number'),
    `${PARAMETERS}/properties/cores/type`,
    'changed',
    false,
  ],
  [
    'a lower maximum',
    (m) => (parameter(m, 'gpu_count')['maximum'] = 4),
    `${PARAMETERS}/properties/gpu_count/maximum`,
    'changed',
    true,
  ],
  [
    'a higher maximum',
    (m) => (parameter(m, 'gpu_count')['maximum'] = 16),
    `${PARAMETERS}/properties/gpu_count/maximum`,
    'changed',
    false,
  ],
  [
    'no maximum',
    (m) => delete parameter(m, 'gpu_count')['maximum'],
    `${PARAMETERS}/properties/gpu_count/maximum`,
    'removed',
    false,
  ],
  [
    'a new maximum',
    (m) => (parameter(m, 'cores')['maximum'] = 64),
    `${PARAMETERS}/properties/cores/maximum`,
    'added',
    true,
  ],
  [
    'a higher minimum',
    (m) => (parameter(m, 'cores')['minimum'] = 2),
    `${PARAMETERS}/properties/cores/minimum`,
    'changed',
    true,
  ],
  [
    'a choice less',
    (m) => (parameter(m, 'max_model_len')['enum'] = [4096]),
    `${PARAMETERS}/properties/max_model_len/enum/1`,
    'removed',
    true,
  ],
  [
    'a choice more',
    (m) => (parameter(m, 'max_model_len')['enum'] = [4096, 8192, 16_384]),
    `${PARAMETERS}/properties/max_model_len/enum/2`,
    'added',
    false,
  ],
  [
    'only some choices',
    (m) => (parameter(m, 'cores')['enum'] = [1, 2]),
    `${PARAMETERS}/properties/cores/enum`,
    'added',
    true,
  ],
  [
    'any choice',
    (m) => delete parameter(m, 'max_model_len')['enum'],
    `${PARAMETERS}/properties/max_model_len/enum`,
    'removed',
    false,
  ],
  [
    'another pattern',
    (m) => (parameter(m, 'model')['pattern'] = '^example/'),
    `${PARAMETERS}/properties/model/pattern`,
    'changed',
    true,
  ],
  [
    'no pattern',
    (m) => delete parameter(m, 'model')['pattern'],
    `${PARAMETERS}/properties/model/pattern`,
    'removed',
    false,
  ],
  [
    'another default',
    (m) => (parameter(m, 'gpu_count')['default'] = 4),
    `${PARAMETERS}/properties/gpu_count/default`,
    'changed',
    false,
  ],
  [
    'multiples of half',
    (m) => (parameter(m, 'memory_mib')['multipleOf'] = 512),
    `${PARAMETERS}/properties/memory_mib/multipleOf`,
    'changed',
    false,
  ],
  [
    'multiples of more',
    (m) => (parameter(m, 'memory_mib')['multipleOf'] = 4096),
    `${PARAMETERS}/properties/memory_mib/multipleOf`,
    'changed',
    true,
  ],
  [
    'shorter items',
    (m) => (parameter(m, 'packages')['items'] = { type: 'string', maxLength: 50 }),
    `${PARAMETERS}/properties/packages/items/maxLength`,
    'changed',
    true,
  ],
  [
    'a config that is required',
    (m) =>
      (m.version.config_schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }),
    '/version/config_schema/required/0',
    'added',
    true,
  ],
  [
    'a placement less',
    (m) => (m.version.placement_schema = { type: 'object' }),
    '/version/placement_schema/properties/allocation_id',
    'removed',
    true,
  ],
  [
    'a config that is closed',
    (m) => (m.version.config_schema = { type: 'object', additionalProperties: false }),
    '/version/config_schema/additionalProperties',
    'added',
    true,
  ],

  [
    'an accelerator more',
    (m) => m.version.compatibility.supported_accelerators.push('amd'),
    '/version/compatibility/supported_accelerators/1',
    'added',
    false,
  ],
  [
    'another accelerator',
    (m) => (m.version.compatibility.supported_accelerators = ['amd']),
    '/version/compatibility/supported_accelerators/0',
    'removed',
    true,
  ],
  [
    'a shape less',
    (m) => (m.version.compatibility.requires_capacity_shape = ['baremetal']),
    '/version/compatibility/requires_capacity_shape/1',
    'removed',
    true,
  ],
  [
    'more GPUs',
    (m) => (m.version.compatibility.min_gpu_count = 4),
    '/version/compatibility/min_gpu_count',
    'changed',
    true,
  ],
  [
    'fewer GPUs',
    (m) => (m.version.compatibility.min_gpu_count = 1),
    '/version/compatibility/min_gpu_count',
    'changed',
    false,
  ],
  [
    'more GPU memory',
    (m) => (m.version.compatibility.min_gpu_memory_mib = 80_000),
    '/version/compatibility/min_gpu_memory_mib',
    'changed',
    true,
  ],
  [
    'the whole node',
    (m) => (m.version.compatibility.requires_exclusive_node = true),
    '/version/compatibility/requires_exclusive_node',
    'changed',
    true,
  ],

  [
    'a credential class more',
    (m) => m.version.required_credential_classes.push('registry_pull'),
    '/version/required_credential_classes/1',
    'added',
    true,
  ],
  [
    'a credential class less',
    (m) => m.version.required_credential_classes.pop(),
    '/version/required_credential_classes/0',
    'removed',
    false,
  ],
  [
    'another bootstrap credential',
    (m) =>
      (m.version.runtime_requirements = {
        bootstrap_access_credential: 'winrm',
        operator_identity: 'service_account',
      }),
    '/version/runtime_requirements/bootstrap_access_credential',
    'changed',
    true,
  ],
  [
    'a secret more',
    (m) => profile(m).secrets.push({ name: 'new', required: true, env: 'NEW' }),
    `${PROFILE}/secrets/2`,
    'added',
    true,
  ],
  [
    'an optional secret more',
    (m) => profile(m).secrets.push({ name: 'new', required: false, env: 'NEW' }),
    `${PROFILE}/secrets/2`,
    'added',
    false,
  ],
  [
    'a secret required',
    (m) => (first(profile(m).secrets).required = true),
    `${PROFILE}/secrets/0/required`,
    'changed',
    true,
  ],
  ['a secret less', (m) => profile(m).secrets.pop(), `${PROFILE}/secrets/1`, 'removed', false],

  [
    'a port that is not told of less',
    (m) => (first(profile(m).components).ports = []),
    `${PROFILE}/components/0/ports/0`,
    'removed',
    false,
  ],
  [
    'a port less',
    (m) => ((profile(m).components[1] ?? first([])).ports = []),
    `${PROFILE}/components/1/ports/0`,
    'removed',
    true,
  ],
  [
    'a port opened',
    (m) => (first(first(profile(m).components).ports).expose = 'private'),
    `${PROFILE}/components/0/ports/0/expose`,
    'changed',
    false,
  ],
  [
    'a port closed',
    (m) => (first((profile(m).components[1] ?? first([])).ports).expose = 'none'),
    `${PROFILE}/components/1/ports/0/expose`,
    'changed',
    true,
  ],
  ['a component less', (m) => profile(m).components.pop(), `${PROFILE}/components/2`, 'removed', true],
  [
    'another order of components',
    (m) => (profile(m).components = profile(m).components.toReversed()),
    `${PROFILE}/components`,
    'changed',
    false,
  ],
  [
    'another command',
    (m) => (first(profile(m).components).command = ['serve', '--fast']),
    `${PROFILE}/components/0/command/1`,
    'added',
    false,
  ],
  [
    'another image',
    (m) => (first(m.version.artifacts).digest = `sha256:${'12'.repeat(32)}`),
    '/version/artifacts/0/digest',
    'changed',
    false,
  ],
  ['a variant less', (m) => m.version.artifacts.splice(1, 1), '/version/artifacts/1', 'removed', true],
  [
    'a variant of the profile less',
    (m) => profile(m).variants.pop(),
    `${PROFILE}/variants/1`,
    'removed',
    true,
  ],
  ['an engine more', (m) => profile(m).engines.push('kubernetes'), `${PROFILE}/engines/1`, 'added', false],
  ['another engine', (m) => (profile(m).engines = ['kubernetes']), `${PROFILE}/engines/0`, 'removed', true],
  ['an output less', (m) => profile(m).outputs.pop(), `${PROFILE}/outputs/1`, 'removed', true],
  [
    'an output elsewhere',
    (m) => (first(profile(m).outputs).path = '/v2'),
    `${PROFILE}/outputs/0/path`,
    'changed',
    true,
  ],
  ['storage less', (m) => profile(m).storage.pop(), `${PROFILE}/storage/1`, 'removed', true],
  [
    'a kind of storage less',
    (m) => first(profile(m).storage).kinds.pop(),
    `${PROFILE}/storage/0/kinds/1`,
    'removed',
    true,
  ],
  [
    'storage that cannot be written',
    (m) => (first(profile(m).storage).read_only = true),
    `${PROFILE}/storage/0/read_only`,
    'changed',
    true,
  ],
  ['an add-on less', (m) => profile(m).add_ons.pop(), `${PROFILE}/add_ons/0`, 'removed', true],
  [
    'more memory',
    (m) => ((first(profile(m).components).resources ?? {}).min_memory_mib = 131_072),
    `${PROFILE}/components/0/resources/min_memory_mib`,
    'changed',
    true,
  ],
  [
    'less memory',
    (m) => ((first(profile(m).components).resources ?? {}).min_memory_mib = 32_768),
    `${PROFILE}/components/0/resources/min_memory_mib`,
    'changed',
    false,
  ],
  [
    'no UI of its own',
    (m) => (m.version.ui = { extension_kind: 'none' }),
    '/version/ui/extension_kind',
    'changed',
    true,
  ],
  ['a role less', (m) => m.version.members.pop(), '/version/members/0', 'removed', true],
  [
    'another unit',
    (m) => m.version.metering.units.push({ unit: 'requests' }),
    '/version/metering/units/1',
    'added',
    false,
  ],
];

describe('The difference between two versions', () => {
  it.each(ROWS)('%s', (_what, edit, pointer, kind, breaks) => {
    const after = full();
    edit(after);
    const { breaking, changes } = diffManifests(full(), after);
    const change = changes.find((one) => one.pointer === pointer && one.kind === kind);
    expect(change, JSON.stringify(changes)).toMatchObject({ breaking: breaks });
    expect(change?.why === undefined).toBe(!breaks);
    expect(breaking).toBe(changes.some((one) => one.breaking));
  });

  it('is nothing where only the number and the notes differ', () => {
    const after = full();
    after.version.version = '2.0.1';
    after.version.release_notes = 'Nothing new.';
    expect(diffManifests(full(), after)).toEqual({ breaking: false, changes: [] });
  });

  it('shows short values and leaves long ones to the manifests', () => {
    const after = full();
    after.version.compatibility.min_gpu_count = 4;
    after.app.description = 'x'.repeat(300);
    expect(diffManifests(full(), after).changes).toMatchObject([
      { pointer: '/app/description', kind: 'changed', before: full().app.description },
      { pointer: '/version/compatibility/min_gpu_count', before: 2, after: 4 },
    ]);
    expect(diffManifests(full(), after).changes[0]).not.toHaveProperty('after');
  });

  it('breaks workers whose contract changes', () => {
    const after = slurm();
    if (after.version.external_worker_contract)
      after.version.external_worker_contract.root.bound_phase = 'controller_bound';
    expect(diffManifests(slurm(), after).changes).toMatchObject([
      { pointer: '/version/external_worker_contract/root/bound_phase', breaking: true },
    ]);
  });

  it('turned around shows what was added as removed', () => {
    const after = full();
    properties(after)['extra'] = { type: 'string' };
    expect(diffManifests(after, full()).changes).toMatchObject([{ kind: 'removed', breaking: true }]);
  });

  it('is told of versions that have nothing in common', () => {
    const { breaking, changes } = diffManifests(full(), read(flatSample()));
    expect(breaking).toBe(true);
    expect(changes.length).toBeGreaterThan(20);
  });
});
