// Brings a manifest into canonical form. Shorthands are expanded, so that all later code handles one shape.

import type { RUNTIME_BACKENDS } from '../catalog/app.ts';
import { faultIf } from './manifest-faults.ts';
import {
  type Engine,
  type RuntimeProfile,
  type RuntimeProfileAsSent,
  SINGLE_CONTAINER_FIELDS,
} from './manifest-profile.ts';
import { AppPart, COUNTED, type ManifestAsSent, type UI_KINDS } from './manifest-schema.ts';
import type { InputFault } from '../platform/errors.ts';

export type RuntimeBackend = (typeof RUNTIME_BACKENDS)[number];
type AppAsSent = ManifestAsSent['app'];
type VersionAsSent = ManifestAsSent['version'];
type Shorthand = 'artifact_kind' | 'artifact_ref';
type Settled = 'runtime_backend' | 'artifacts' | 'compatibility' | 'runtime_profile' | 'metering';
type MeteringAsSent = VersionAsSent['metering'];
type Counted = (typeof COUNTED)[number];

export interface Manifest {
  schema_version: 1;
  app: Omit<AppAsSent, 'runtime_backend' | 'ui_kind'> & {
    runtime_backend: RuntimeBackend;
    ui_kind: (typeof UI_KINDS)[number];
  };
  version: Omit<VersionAsSent, Shorthand | Settled> & {
    runtime_backend: RuntimeBackend;
    artifacts: ManifestArtifact[];
    compatibility: NonNullable<VersionAsSent['compatibility']>;
    runtime_profile?: RuntimeProfile;
    metering: Metering;
  };
}

type Metering = MeteringAsSent & { kind: Exclude<MeteringAsSent['kind'], Counted> };

type ArtifactAsSent = NonNullable<VersionAsSent['artifacts']>[number];
type ManifestArtifact = ArtifactAsSent & {
  source_type: NonNullable<ArtifactAsSent['source_type']>;
};

/** From a place in the canonical manifest to the place the sender wrote it at. */
export type PointerMap = (pointer: string) => string;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The flat spelling with its fields put into app and version; the nested one as it is. */
export function nestSpelling(sent: unknown): { nested: unknown; pointerOf: PointerMap } {
  if (!isRecord(sent) || 'app' in sent || isRecord(sent['version']))
    return { nested: sent, pointerOf: (pointer) => pointer };
  const { schema_version, ...fields } = sent;
  const isOfApp = ([name]: [string, unknown]): boolean => Object.hasOwn(AppPart.entries, name);
  const entries = Object.entries(fields);
  const nested = {
    ...(schema_version === undefined ? {} : { schema_version }),
    app: Object.fromEntries(entries.filter(isOfApp)),
    version: Object.fromEntries(entries.filter((entry) => !isOfApp(entry))),
  };
  return { nested, pointerOf: (pointer) => pointer.replace(/^\/(?:app|version)(?=\/|$)/, '') };
}

/** Members with alternatives, of which exactly one must be given. */
export const SPELLING_CHECKS: { reads: string[]; find: (sent: ManifestAsSent) => InputFault[] }[] = [
  {
    reads: ['/app/runtime_backend', '/version/runtime_backend', '/version/runtime_profile'],
    find: ({ app, version }) =>
      faultIf(
        !app.runtime_backend && !version.runtime_backend && !version.runtime_profile,
        '/app/runtime_backend',
        'This field is required.',
      ),
  },
  {
    reads: ['/version/artifacts', '/version/artifact_ref', '/version/artifact_kind'],
    find: ({ version: { artifacts, artifact_ref, artifact_kind } }) => [
      ...faultIf(
        artifacts !== undefined && artifact_ref !== undefined,
        '/version/artifact_ref',
        'Expected either artifacts or artifact_ref.',
      ),
      ...faultIf(
        artifact_kind !== undefined && artifact_ref === undefined,
        '/version/artifact_kind',
        'Expected artifact_kind only with artifact_ref.',
      ),
    ],
  },
  {
    reads: ['/version/metering'],
    find: ({ version: { metering } }) =>
      faultIf(
        isCounted(metering) && metering.units.length > 0,
        '/version/metering/units',
        'Expected units only with kind: app_units.',
      ),
  },
  {
    reads: ['/version/runtime_profile'],
    find: ({ version: { runtime_profile: profile } }) =>
      SINGLE_CONTAINER_FIELDS.flatMap((field) =>
        faultIf(
          profile?.components !== undefined && isSaid(profile[field]),
          `/version/runtime_profile/${field}`,
          'Expected this field in a component, because the profile lists components.',
        ),
      ),
  },
];

const isSaid = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined);

/** Engines a backend can be run by, the usual one first. */
export const ENGINES_OF: Record<RuntimeBackend, readonly Engine[]> = {
  launchable_oci: ['node_agent', 'docker_compose', 'kubernetes', 'helm', 'dstack'],
  docker_compose: ['docker_compose'],
  k8s: ['kubernetes', 'helm'],
  ray: ['kubernetes', 'helm', 'node_agent'],
  slurm: ['node_agent'],
  bare_metal: ['node_agent'],
};

/** What a version that names one artifact calls it, and a profile of one container its component. */
const ONLY_ARTIFACT = 'runtime';
const ONLY_COMPONENT = 'main';

/**
 * The sent manifest in canonical form. What could not be read is left out before; the checks that would need it do not run.
 */
export function canonicalManifest(sent: ManifestAsSent): { manifest: Manifest; pointerOf: PointerMap } {
  const {
    artifact_kind,
    artifact_ref,
    artifacts: listed,
    runtime_profile: profile,
    metering,
    ...version
  } = sent.version;
  const runtime_backend =
    sent.app.runtime_backend ?? version.runtime_backend ?? profile?.kind ?? 'launchable_oci';
  const isShort = profile !== undefined && profile.components === undefined;
  const artifacts = listed ?? (artifact_ref === undefined ? [] : [onlyArtifact(artifact_ref, artifact_kind)]);
  const manifest: Manifest = {
    schema_version: 1,
    app: {
      ...sent.app,
      runtime_backend,
      ui_kind: sent.app.ui_kind ?? version.ui?.extension_kind ?? 'metadata_only',
    },
    version: {
      ...version,
      runtime_backend: version.runtime_backend ?? runtime_backend,
      artifacts: artifacts.map((artifact) => ({
        ...artifact,
        source_type:
          artifact.source_type ?? (artifact.artifact_kind === 'blob' ? 'artifact_store' : 'oci_registry'),
      })),
      ...(version.parameters && {
        // A launch takes the parameters that are declared and no others, whether the schema says so or not.
        parameters: { additionalProperties: false, ...version.parameters },
      }),
      compatibility: version.compatibility ?? anyAllocation(profile?.resources.gpu_count ?? 0),
      ...(profile && { runtime_profile: canonicalProfile(profile) }),
      metering: canonicalMetering(metering),
    },
  };
  return {
    manifest,
    pointerOf: (pointer) => {
      const at = isShort
        ? pointer.replace(/^(\/version\/runtime_profile)\/components(?:\/0(?:\/name$)?|$)/, '$1')
        : pointer;
      return listed ? at : at.replace(/^\/version\/artifacts\/0\/.*/, '/version/artifact_ref');
    },
  };
}

/** What could not be read is left out, as everywhere. */
function canonicalMetering(metering: MeteringAsSent): Metering {
  return isCounted(metering)
    ? { kind: 'app_units', units: [{ unit: metering.kind }] }
    : (metering as Metering);
}

const isCounted = (metering?: MeteringAsSent): metering is MeteringAsSent & { kind: Counted } =>
  COUNTED.some((unit) => unit === metering?.kind);

function onlyArtifact(ref: string, kind: ArtifactAsSent['artifact_kind'] = 'oci'): ArtifactAsSent {
  const [repository = '', digest = ''] = ref.split('@');
  return { name: ONLY_ARTIFACT, artifact_kind: kind, repository, digest };
}

function anyAllocation(min_gpu_count: number): Manifest['version']['compatibility'] {
  return {
    requires_capacity_shape: ['baremetal', 'gpu_slice'],
    min_gpu_count,
    requires_exclusive_node: false,
    supported_accelerators: min_gpu_count > 0 ? ['nvidia', 'amd'] : ['nvidia', 'amd', 'cpu'],
  };
}

function canonicalProfile(profile: RuntimeProfileAsSent): RuntimeProfile {
  const {
    components: listed,
    engines,
    artifact,
    image_ref,
    command,
    args,
    bootstrap,
    health,
    ...rest
  } = profile;
  const { parameter_args, env, ports, ...shared } = rest;
  const describesContainer = SINGLE_CONTAINER_FIELDS.some((field) => isSaid(profile[field]));
  const single = {
    name: ONLY_COMPONENT,
    ...(artifact !== undefined && { artifact }),
    ...(image_ref !== undefined && { image_ref }),
    ...(command && { command }),
    ...(args && { args }),
    ...(bootstrap && { bootstrap }),
    parameter_args,
    env,
    ports,
    ...(health && { health }),
    depends_on: [],
  };
  const components = listed ?? (describesContainer ? [single] : []);
  const usual = ENGINES_OF[profile.kind].filter(
    (engine) => engine !== 'node_agent' || components.length <= 1,
  );
  return { ...shared, components, engines: engines ?? usual.slice(0, 1) };
}
