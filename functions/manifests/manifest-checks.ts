// What the parts of a manifest must say together. Each check names what it reads, so that a fault in one place does not
// hide those in others.

import { checkSchema } from './json-schema.ts';
import type { Manifest, RuntimeBackend } from './manifest-canonical.ts';
import {
  ARTIFACTS,
  type Check,
  faultIf,
  parametersOf,
  repeated,
  unknownName,
  unknownNames,
} from './manifest-faults.ts';
import { PROFILE_CHECKS } from './manifest-profile-checks.ts';
import type { Steps } from './steps.ts';
import type { InputFault } from '../platform/errors.ts';

/** The node agent needs something to run; the other backends bring controllers of their own. */
const RUN_BY_AGENT = new Set<RuntimeBackend>(['launchable_oci', 'docker_compose']);

export const MANIFEST_CHECKS: Check[] = [
  {
    reads: ['/app/runtime_backend', '/version/runtime_backend', '/version/runtime_profile'],
    find: checkBackend,
  },
  { reads: ['/app/supported_modes'], find: checkModes },
  { reads: ['/app/runtime_backend', ...ARTIFACTS, '/version/runtime_profile'], find: checkArtifacts },
  { reads: ['/version/compatibility'], find: checkCompatibility },
  { reads: ['/version/parameters'], find: checkParameters },
  {
    reads: ['/version/placement_schema'],
    find: (manifest, steps) => checkObject(manifest, 'placement_schema', steps),
  },
  {
    reads: ['/version/config_schema'],
    find: (manifest, steps) => checkObject(manifest, 'config_schema', steps),
  },
  { reads: ['/version/ui_hints', '/version/parameters'], find: checkUiHints },
  {
    reads: ['/app/runtime_backend', '/app/ui_kind', '/version/ui', '/version/runtime_profile'],
    find: checkUi,
  },
  { reads: ['/app/runtime_backend', '/version/external_worker_contract'], find: checkWorker },
  { reads: ['/version/metering'], find: checkMetering },
  { reads: ['/version/members'], find: checkMembers },
  {
    reads: ['/version/required_credential_classes'],
    find: ({ version }) =>
      repeated(version.required_credential_classes, '/version/required_credential_classes'),
  },
  ...PROFILE_CHECKS,
];

function checkBackend({ app, version }: Manifest): InputFault[] {
  const { runtime_profile: profile } = version;
  const same = `Expected ${app.runtime_backend}, the backend of the app.`;
  return [
    ...faultIf(version.runtime_backend !== app.runtime_backend, '/version/runtime_backend', same),
    ...faultIf(
      profile !== undefined && profile.kind !== app.runtime_backend,
      '/version/runtime_profile/kind',
      same,
    ),
    ...faultIf(
      !profile && RUN_BY_AGENT.has(app.runtime_backend),
      '/version/runtime_profile',
      `Expected a runtime profile: the backend ${app.runtime_backend} cannot run without one.`,
    ),
  ];
}

function checkModes({ app: { supported_modes: modes } }: Manifest): InputFault[] {
  const at = '/app/supported_modes';
  const needsManaged = modes.control_plane_scopes.includes('platform');
  return [
    ...repeated(modes.operating_modes, `${at}/operating_modes`),
    ...repeated(modes.control_plane_scopes, `${at}/control_plane_scopes`),
    ...faultIf(
      needsManaged && !modes.operating_modes.includes('platform_managed'),
      `${at}/control_plane_scopes`,
      'Expected the scope platform only together with the operating mode platform_managed.',
    ),
  ];
}

function checkArtifacts({ app, version }: Manifest): InputFault[] {
  const { artifacts, runtime_profile: profile } = version;
  const variants = (profile?.variants ?? []).map(({ name }) => name);
  return [
    ...faultIf(
      artifacts.length === 0 && RUN_BY_AGENT.has(app.runtime_backend),
      '/version/artifacts',
      `Expected at least one artifact: the backend ${app.runtime_backend} cannot run without one.`,
      'The digest may be omitted until the artifact is pushed.',
    ),
    ...repeated(
      artifacts.map(({ name, variant = '' }) => `${name} ${variant}`),
      '/version/artifacts',
      '/name',
    ),
    ...artifacts.flatMap((artifact, index) => {
      const at = `/version/artifacts/${index}`;
      const isBlob = artifact.artifact_kind === 'blob';
      const home = isBlob ? 'artifact_store' : 'oci_registry';
      return [
        ...faultIf(artifact.source_type !== home, `${at}/source_type`, `Expected ${home} for this kind.`),
        ...faultIf(
          artifact.digest !== undefined && artifact.repository === undefined,
          `${at}/repository`,
          'Expected the repository that has the digest.',
        ),
        ...(variants.length > 0
          ? unknownName(artifact.variant, variants, `${at}/variant`, 'a variant of the runtime profile')
          : []),
      ];
    }),
  ];
}

function checkCompatibility({ version: { compatibility } }: Manifest): InputFault[] {
  const { supported_accelerators: accelerators, requires_capacity_shape: shapes } = compatibility;
  const at = '/version/compatibility';
  return [
    ...repeated(shapes, `${at}/requires_capacity_shape`),
    ...repeated(accelerators, `${at}/supported_accelerators`),
    ...faultIf(
      compatibility.min_gpu_count > 0 && accelerators.every((accelerator) => accelerator === 'cpu'),
      `${at}/min_gpu_count`,
      'Expected 0, because cpu is the only accelerator.',
    ),
    ...faultIf(
      compatibility.requires_exclusive_node && !shapes.includes('baremetal'),
      `${at}/requires_exclusive_node`,
      'Expected false, because the capacity shape baremetal is not listed.',
    ),
  ];
}

function checkObject(
  { version }: Manifest,
  member: 'parameters' | 'placement_schema' | 'config_schema',
  steps: Steps,
): InputFault[] {
  const schema = version[member];
  if (!schema) return [];
  const at = `/version/${member}`;
  const { type } = schema;
  return [
    // Of several schemas, the one in which the steps ran out is told.
    ...(steps.areUsedUp ? [] : checkSchema(schema, steps)).map(({ pointer, ...fault }) => ({
      pointer: at + pointer,
      ...fault,
    })),
    ...faultIf(type !== undefined && type !== 'object', `${at}/type`, 'Expected object.'),
  ];
}

function checkParameters(manifest: Manifest, steps: Steps): InputFault[] {
  return [
    ...checkObject(manifest, 'parameters', steps),
    ...faultIf(
      manifest.version.parameters?.['additionalProperties'] === true,
      '/version/parameters/additionalProperties',
      'Expected false: a launch accepts only declared parameters.',
    ),
  ];
}

function checkUiHints(manifest: Manifest): InputFault[] {
  const { ui_hints: hints } = manifest.version;
  if (!hints) return [];
  const at = '/version/ui_hints';
  const parameters = Object.keys(parametersOf(manifest));
  const groups = hints.groups.map(({ name }) => name);
  return [
    ...unknownNames(hints.order, parameters, `${at}/order`, 'a parameter'),
    ...repeated(hints.order, `${at}/order`),
    ...repeated(groups, `${at}/groups`, '/name'),
    ...repeated(
      hints.fields.map(({ parameter }) => parameter),
      `${at}/fields`,
      '/parameter',
    ),
    ...hints.fields.flatMap(({ parameter, group }, index) => [
      ...unknownName(parameter, parameters, `${at}/fields/${index}/parameter`, 'a parameter'),
      ...unknownName(group, groups, `${at}/fields/${index}/group`, 'a group'),
    ]),
  ];
}

function checkUi({ app, version: { ui, runtime_profile: profile } }: Manifest): InputFault[] {
  if (!ui) return [];
  if (ui.extension_kind !== 'embedded')
    return [
      ...faultIf(ui.path !== undefined, '/version/ui/path', 'Expected a path only for an embedded UI.'),
      ...faultIf(ui.port !== undefined, '/version/ui/port', 'Expected a port only for an embedded UI.'),
    ];
  const doors = (profile?.components ?? []).flatMap(({ name, ports }) =>
    ports
      .filter(({ expose }) => expose === 'embedded_ui_gateway')
      .map(({ container }) => ({ name, container })),
  );
  const fitting = doors.filter(
    ({ name, container }) =>
      (ui.component === undefined || ui.component === name) &&
      (ui.port === undefined || ui.port === container),
  );
  const isOfAgent = RUN_BY_AGENT.has(app.runtime_backend);
  return [
    ...faultIf(
      app.ui_kind !== 'embedded',
      '/version/ui/extension_kind',
      'Expected embedded only where the app’s ui_kind is embedded.',
    ),
    ...faultIf(
      isOfAgent && fitting.length === 0,
      ui.port === undefined ? '/version/ui/extension_kind' : '/version/ui/port',
      'Expected a port of a component with expose: embedded_ui_gateway.',
    ),
    ...faultIf(
      isOfAgent && fitting.length > 1,
      '/version/ui',
      'Expected component and port, because several ports are exposed to the gateway.',
    ),
  ];
}

function checkWorker({ app, version }: Manifest): InputFault[] {
  return faultIf(
    version.external_worker_contract !== undefined && RUN_BY_AGENT.has(app.runtime_backend),
    '/version/external_worker_contract',
    `Expected none: the platform’s own agent runs ${app.runtime_backend}.`,
    'Remove it, or use one of the backends k8s, slurm, ray and bare_metal.',
  );
}

/** What the platform measures itself; an app that sent it too would be charged for twice. */
const MEASURED = new Set([
  'session_seconds',
  'gpu_seconds',
  'gpu_hours',
  'allocation_seconds',
  'allocation_hours',
]);

function checkMetering({ version: { metering } }: Manifest): InputFault[] {
  const { kind, units } = metering;
  return [
    ...repeated(
      units.map(({ unit }) => unit),
      '/version/metering/units',
      '/unit',
    ),
    ...units.flatMap(({ unit }, index) =>
      faultIf(
        MEASURED.has(unit),
        `/version/metering/units/${index}/unit`,
        'Expected a unit that the app counts; the platform measures this one itself.',
      ),
    ),
    ...faultIf(
      (kind === 'app_units') !== units.length > 0,
      '/version/metering/units',
      kind === 'app_units' ? 'Expected at least one unit.' : 'Expected units only with kind: app_units.',
    ),
  ];
}

function checkMembers({ version: { members } }: Manifest): InputFault[] {
  return [
    ...repeated(
      members.map(({ role }) => role),
      '/version/members',
      '/role',
    ),
    ...members.flatMap(({ min_count, max_count }, index) =>
      faultIf(min_count > max_count, `/version/members/${index}/max_count`, 'Expected at least min_count.'),
    ),
  ];
}
