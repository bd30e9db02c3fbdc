// What the parts of a launch profile must say together.

import { ENGINES_OF, type Manifest } from './manifest-canonical.ts';
import {
  ARTIFACTS,
  type Check,
  faultIf,
  parametersOf,
  repeated,
  unknownName,
  unknownNames,
} from './manifest-faults.ts';
import type { Component, Resources, RuntimeProfile } from './manifest-profile.ts';
import type { InputFault } from '../platform/errors.ts';

const PROFILE = '/version/runtime_profile';

/** A check of the profile alone. */
const ofProfile = (find: (profile: RuntimeProfile) => InputFault[]): Check => ({
  reads: [PROFILE],
  find: ({ version }) => (version.runtime_profile ? find(version.runtime_profile) : []),
});

export const PROFILE_CHECKS: Check[] = [
  ofProfile((profile) =>
    profile.components.flatMap((component, index) =>
      checkComponent(component, `${PROFILE}/components/${index}`, profile),
    ),
  ),
  ofProfile(checkComponents),
  ofProfile(checkEngines),
  ofProfile(checkStorage),
  ofProfile(checkAddOns),
  ofProfile(checkSecrets),
  ofProfile(checkOutputs),
  ofProfile(checkValidation),
  ofProfile(checkResources),
  { reads: [PROFILE, ...ARTIFACTS], find: checkArtifactNames },
  { reads: [PROFILE, '/version/parameters'], find: checkParameterNames },
  { reads: [PROFILE, '/version/compatibility'], find: checkGpuCount },
];

function checkComponents({ components, variants, kind }: RuntimeProfile): InputFault[] {
  const needsComponent = kind === 'launchable_oci' || kind === 'docker_compose';
  return [
    ...faultIf(
      needsComponent && components.length === 0,
      `${PROFILE}/components`,
      'Expected at least one component, or image_ref or artifact for a single one.',
    ),
    ...repeated(namesOf(components), `${PROFILE}/components`, '/name'),
    ...repeated(namesOf(variants), `${PROFILE}/variants`, '/name'),
    ...circles(components).map((index) => ({
      pointer: `${PROFILE}/components/${index}/depends_on`,
      detail: 'Expected components that do not depend on this one themselves.',
    })),
  ];
}

function checkComponent(component: Component, at: string, profile: RuntimeProfile): InputFault[] {
  const { artifact, image_ref, depends_on, storage, name } = component;
  const others = namesOf(profile.components).filter((other) => other !== name);
  return [
    ...faultIf(artifact === undefined && image_ref === undefined, at, 'Expected artifact or image_ref.'),
    ...faultIf(
      artifact !== undefined && image_ref !== undefined,
      `${at}/image_ref`,
      'Expected either artifact or image_ref, not both.',
    ),
    ...unknownNames(depends_on, others, `${at}/depends_on`, 'another component'),
    ...repeated(depends_on, `${at}/depends_on`),
    ...unknownNames(storage ?? [], namesOf(profile.storage), `${at}/storage`, 'an entry of storage'),
    ...checkPorts(component, at),
    ...checkEnv(component, at, profile),
    ...checkHealth(component, at),
    ...checkSplit(component.resources ?? {}, `${at}/resources`),
  ];
}

function checkPorts({ ports }: Component, at: string): InputFault[] {
  const named = ports.flatMap(({ name }, index) => (name === undefined ? [] : [{ name, index }]));
  return [
    ...repeated(
      ports.map(({ container, protocol }) => `${container}/${protocol}`),
      `${at}/ports`,
      '/container',
    ),
    ...named
      .filter(({ name }, place) => named.findIndex((other) => other.name === name) < place)
      .map(({ index }) => ({
        pointer: `${at}/ports/${index}/name`,
        detail: 'Expected each entry only once in the list.',
      })),
    ...ports.flatMap(({ protocol, expose }, index) =>
      faultIf(
        protocol === 'udp' && expose === 'embedded_ui_gateway',
        `${at}/ports/${index}/expose`,
        'Expected none or private, because the gateway uses HTTP.',
      ),
    ),
  ];
}

/** By these a process is made to load or run something else, or given GPUs that were not assigned to it. */
const HIJACKS = new Set([
  'GCONV_PATH',
  'GLIBC_TUNABLES',
  'BASH_ENV',
  'ENV',
  'IFS',
  'PROMPT_COMMAND',
  'NODE_OPTIONS',
  'PYTHONSTARTUP',
  'PYTHONINSPECT',
  'PERL5OPT',
  'RUBYOPT',
]);
const GPU_CHOICE = /^(?:CUDA|NVIDIA|ROCR|HIP)_VISIBLE_DEVICES$|^GPU_DEVICE_ORDINAL$|^NVIDIA_MIG_/;
const SECRET_NAME = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|KEY|CREDENTIALS?)$/;

function checkEnvName(name: string, pointer: string): InputFault[] {
  if (/^(?:LD|DYLD)_/.test(name) || HIJACKS.has(name))
    return [
      {
        pointer,
        detail: 'Expected no variable that can make a process load or run other code.',
        hint: 'Put it into the image.',
      },
    ];
  if (name.startsWith('GPUAAS_'))
    return [
      { pointer, detail: 'Expected another name: those beginning with GPUAAS_ are set by the platform.' },
    ];
  return faultIf(
    GPU_CHOICE.test(name),
    pointer,
    'Expected no variable that chooses GPUs: the platform assigns them.',
    'Set the number of GPUs in resources.gpu_count.',
  );
}

function checkEnv({ env }: Component, at: string, { secrets }: RuntimeProfile): InputFault[] {
  const injected = new Set(secrets.map((secret) => secret.env));
  return [
    ...repeated(namesOf(env), `${at}/env`, '/name'),
    ...env.flatMap((entry, index) => {
      const here = `${at}/env/${index}`;
      const sources = [entry.value, entry.parameter, entry.secret].filter((source) => source !== undefined);
      return [
        ...checkEnvName(entry.name, `${here}/name`),
        ...faultIf(sources.length !== 1, here, 'Expected one of value, parameter and secret.'),
        ...faultIf(
          SECRET_NAME.test(entry.name) && (entry.value ?? '') !== '',
          `${here}/value`,
          'Expected no plain value for a variable that is named like a secret.',
          'Declare it under secrets and let people choose the credential at launch.',
        ),
        ...unknownName(entry.secret, namesOf(secrets), `${here}/secret`, 'an entry of secrets'),
        ...faultIf(
          injected.has(entry.name),
          `${here}/name`,
          'Expected another name: this variable holds a secret.',
        ),
      ];
    }),
  ];
}

function checkHealth({ health, ports }: Component, at: string): InputFault[] {
  if (!health) return [];
  const here = `${at}/health`;
  const { kind, port, path, command } = health;
  const takesPort = kind === 'http' || kind === 'tcp';
  return [
    ...faultIf(takesPort && port === undefined, `${here}/port`, 'Expected the port to check.'),
    ...faultIf(
      port !== undefined && !ports.some(({ container }) => container === port),
      `${here}/port`,
      'Expected a container port of the component.',
    ),
    ...faultIf(kind !== 'http' && path !== undefined, `${here}/path`, 'Expected a path only for kind: http.'),
    ...faultIf(
      (kind === 'command') !== (command !== undefined),
      `${here}/command`,
      kind === 'command' ? 'Expected the command to run.' : 'Expected a command only for kind: command.',
    ),
    ...faultIf(
      health.timeout_seconds > health.interval_seconds,
      `${here}/timeout_seconds`,
      'Expected at most interval_seconds.',
    ),
  ];
}

function checkEngines({ kind, engines, components, chart }: RuntimeProfile): InputFault[] {
  const fitting: readonly string[] = ENGINES_OF[kind];
  return [
    ...repeated(engines, `${PROFILE}/engines`),
    ...engines.flatMap((engine, index) => [
      ...faultIf(
        !fitting.includes(engine),
        `${PROFILE}/engines/${index}`,
        `Expected an engine for ${kind}: ${fitting.join(', ')}.`,
      ),
      ...faultIf(
        engine === 'node_agent' && components.length > 1,
        `${PROFILE}/engines/${index}`,
        'Expected another engine: node_agent runs a single component.',
      ),
    ]),
    ...faultIf(
      chart !== undefined && !engines.includes('helm'),
      `${PROFILE}/chart`,
      'Expected a chart only with the engine helm.',
    ),
  ];
}

function checkStorage({ storage }: RuntimeProfile): InputFault[] {
  const at = `${PROFILE}/storage`;
  return [
    ...repeated(namesOf(storage), at, '/name'),
    ...repeated(
      storage.map(({ path }) => path),
      at,
      '/path',
    ),
    ...storage.flatMap(({ kinds, min_gib = 0, max_gib = Infinity }, index) => [
      ...repeated(kinds, `${at}/${index}/kinds`),
      ...faultIf(min_gib > max_gib, `${at}/${index}/max_gib`, 'Expected at least min_gib.'),
    ]),
  ];
}

function checkAddOns({ add_ons, components }: RuntimeProfile): InputFault[] {
  const at = `${PROFILE}/add_ons`;
  const added = add_ons.flatMap((addOn, index) =>
    addOn.components.map((name, place) => ({ name, pointer: `${at}/${index}/components/${place}` })),
  );
  const optional = added.map(({ name }) => name);
  return [
    ...repeated(namesOf(add_ons), at, '/name'),
    ...added.flatMap(({ name, pointer }, place) => [
      ...unknownName(name, namesOf(components), pointer, 'a component'),
      ...faultIf(
        optional.indexOf(name) < place,
        pointer,
        'Expected a component that belongs to no other add-on.',
      ),
    ]),
    ...faultIf(
      components.length > 0 && components.every(({ name }) => optional.includes(name)),
      at,
      'Expected a component that runs without any add-on.',
    ),
    ...components.flatMap(({ name, depends_on }, index) =>
      depends_on.flatMap((other, place) =>
        faultIf(
          !optional.includes(name) && optional.includes(other),
          `${PROFILE}/components/${index}/depends_on/${place}`,
          'Expected a component that always runs; this one belongs to an add-on.',
        ),
      ),
    ),
  ];
}

function checkSecrets({ secrets }: RuntimeProfile): InputFault[] {
  const at = `${PROFILE}/secrets`;
  const places = secrets.map(({ env, path }, index) => env ?? path ?? index);
  return [
    ...repeated(namesOf(secrets), at, '/name'),
    ...places.flatMap((place, index) =>
      faultIf(
        places.indexOf(place) < index,
        `${at}/${index}`,
        'Expected a variable or a path that no other secret uses.',
      ),
    ),
    ...secrets.flatMap(({ env, path }, index) => [
      ...faultIf(
        (env === undefined) === (path === undefined),
        `${at}/${index}`,
        'Expected either env or path.',
      ),
      ...(env === undefined ? [] : checkEnvName(env, `${at}/${index}/env`)),
    ]),
  ];
}

function checkOutputs({ outputs, components }: RuntimeProfile): InputFault[] {
  return [
    ...repeated(namesOf(outputs), `${PROFILE}/outputs`, '/name'),
    ...outputs.flatMap(({ kind, component, port, path, text }, index) => {
      const at = `${PROFILE}/outputs/${index}`;
      const hasAddress = kind === 'endpoint' || kind === 'dashboard';
      const owner = component ?? (components.length === 1 ? components[0]?.name : undefined);
      const ports = components.find(({ name }) => name === owner)?.ports ?? [];
      return [
        ...unknownName(component, namesOf(components), `${at}/component`, 'a component'),
        ...faultIf(hasAddress && owner === undefined, `${at}/component`, 'Expected the component to reach.'),
        ...faultIf(hasAddress && port === undefined, `${at}/port`, 'Expected the port to reach.'),
        ...faultIf(
          hasAddress && port !== undefined && !ports.some(({ container }) => container === port),
          `${at}/port`,
          'Expected a container port of the component.',
        ),
        ...faultIf(!hasAddress && text === undefined, `${at}/text`, 'Expected the text to show.'),
        ...faultIf(
          hasAddress && text !== undefined,
          `${at}/text`,
          'Expected text only for command and text.',
        ),
        ...faultIf(!hasAddress && path !== undefined, `${at}/path`, 'Expected a path only for an address.'),
      ];
    }),
  ];
}

function checkValidation({ validation, components }: RuntimeProfile): InputFault[] {
  const at = `${PROFILE}/validation`;
  return [
    ...repeated(namesOf(validation), at, '/name'),
    ...validation.flatMap(({ component }, index) => [
      ...unknownName(component, namesOf(components), `${at}/${index}/component`, 'a component'),
      ...faultIf(
        component === undefined && components.length !== 1,
        `${at}/${index}/component`,
        'Expected the component in which the command runs.',
      ),
    ]),
  ];
}

function checkResources({ resources, variants, add_ons }: RuntimeProfile): InputFault[] {
  return [
    ...checkSplit(resources, `${PROFILE}/resources`),
    ...variants.flatMap((variant, index) => [
      ...checkSplit(variant.resources ?? {}, `${PROFILE}/variants/${index}/resources`),
      ...faultIf(
        variant.accelerator === 'cpu' && (variant.resources?.gpu_count ?? 0) > 0,
        `${PROFILE}/variants/${index}/resources/gpu_count`,
        'Expected 0, because the accelerator of the variant is cpu.',
      ),
    ]),
    ...add_ons.flatMap((addOn, index) =>
      checkSplit(addOn.resources ?? {}, `${PROFILE}/add_ons/${index}/resources`),
    ),
  ];
}

function checkSplit({ gpu_count, tensor_parallel, ...memory }: Resources, at: string): InputFault[] {
  const { min_memory_mib = Infinity, shared_memory_mib = 0 } = memory;
  return [
    ...faultIf(
      gpu_count !== undefined && tensor_parallel !== undefined && tensor_parallel > Math.max(gpu_count, 1),
      `${at}/tensor_parallel`,
      'Expected at most gpu_count.',
    ),
    ...faultIf(
      shared_memory_mib > min_memory_mib,
      `${at}/shared_memory_mib`,
      'Expected at most min_memory_mib.',
    ),
  ];
}

function checkArtifactNames({ version: { artifacts, runtime_profile: profile } }: Manifest): InputFault[] {
  if (!profile) return [];
  const images = artifacts.filter(({ artifact_kind }) => artifact_kind !== 'blob').map(({ name }) => name);
  const runnable = [...new Set(images)];
  return [
    ...profile.components.flatMap(({ artifact }, index) =>
      unknownName(
        artifact,
        runnable,
        `${PROFILE}/components/${index}/artifact`,
        'an entry of artifacts that is not a blob',
      ),
    ),
    ...unknownName(profile.chart, runnable, `${PROFILE}/chart`, 'an entry of artifacts'),
  ];
}

function checkParameterNames(manifest: Manifest): InputFault[] {
  const { runtime_profile: profile } = manifest.version;
  if (!profile) return [];
  const parameters = parametersOf(manifest);
  const known = Object.keys(parameters);
  const whole = known.filter((name) => parameters[name]?.type === 'integer');
  return [
    ...profile.components.flatMap(({ env, parameter_args }, index) => {
      const at = `${PROFILE}/components/${index}`;
      return [
        ...env.flatMap(({ parameter }, place) =>
          unknownName(parameter, known, `${at}/env/${place}/parameter`, 'a parameter'),
        ),
        ...parameter_args.flatMap(({ parameter }, place) =>
          unknownName(parameter, known, `${at}/parameter_args/${place}/parameter`, 'a parameter'),
        ),
      ];
    }),
    ...Object.entries(profile.resource_parameters).flatMap(([resource, parameter]) =>
      unknownName(
        parameter,
        whole,
        `${PROFILE}/resource_parameters/${resource}`,
        'a parameter of type integer',
      ),
    ),
  ];
}

/** An allocation the compatibility lets through must be able to run the profile as it is. */
function checkGpuCount({ version: { compatibility, runtime_profile: profile } }: Manifest): InputFault[] {
  const gpus = profile?.resources.gpu_count ?? 0;
  return faultIf(
    gpus > Math.max(compatibility.min_gpu_count, 0) && profile?.resource_parameters.gpu_count === undefined,
    `${PROFILE}/resources/gpu_count`,
    'Expected at most compatibility.min_gpu_count.',
    'Raise min_gpu_count, or let a parameter choose the number with resource_parameters.',
  );
}

/** Components in a dependency cycle: repeatedly start those whose dependencies have started; the rest is in a cycle. */
function circles(components: readonly Component[]): number[] {
  const names = namesOf(components);
  const started = new Set<string>();
  for (let size = -1; size < started.size;) {
    size = started.size;
    for (const { name, depends_on } of components)
      if (depends_on.every((other) => started.has(other) || !names.includes(other) || other === name))
        started.add(name);
  }
  return components.flatMap(({ name }, index) => (started.has(name) ? [] : [index]));
}

const namesOf = (items: readonly { name: string }[]): string[] => items.map(({ name }) => name);
