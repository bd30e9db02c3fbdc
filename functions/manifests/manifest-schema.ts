// The manifest as it is sent: the app, which all versions share, and one version of it or several. Wire schemas only:
// what several fields say together is judged in manifest-checks.ts.

import * as v from 'valibot';
import { AppSlug } from '../platform/name.ts';
import { CONTROL_PLANE_SCOPES, OPERATING_MODES, RUNTIME_BACKENDS } from '../catalog/app.ts';
import {
  HttpsUrl,
  ImageRef,
  ItemName,
  line,
  maybeListOf,
  PortNumber,
  PropertyName,
  RepositoryName,
  said,
  someOf,
  text,
  UrlPath,
  wholeNumber,
  Word,
} from './manifest-fields.ts';
import { Digest } from '../platform/name.ts';
import { ACCELERATORS, MEMBER_ROLES, RuntimeProfileAsSent } from './manifest-profile.ts';
import { VersionNumber } from '../platform/version-number.ts';

const CATEGORIES = [
  'development',
  'notebook',
  'inference',
  'training',
  'scheduler',
  'data',
  'observability',
  'other',
] as const;
const SUPPORT_LEVELS = ['experimental', 'community', 'supported'] as const;
export const UI_KINDS = ['none', 'metadata_only', 'embedded'] as const;
const ARTIFACT_KINDS = ['oci', 'launchable', 'controller', 'blob'] as const;
const CAPACITY_SHAPES = ['baremetal', 'gpu_slice'] as const;
const WIDGETS = [
  'text',
  'textarea',
  'number',
  'slider',
  'select',
  'radio',
  'checkbox',
  'switch',
  'packages',
  'hidden',
] as const;

const SupportedModes = v.strictObject({
  operating_modes: v.optional(
    someOf(v.picklist(OPERATING_MODES), OPERATING_MODES.length, 'Who operates the app.'),
    () => ['tenant_dedicated' as const],
  ),
  control_plane_scopes: v.optional(
    someOf(
      v.picklist(CONTROL_PLANE_SCOPES),
      CONTROL_PLANE_SCOPES.length,
      'The scope that one runtime of the app serves.',
    ),
    () => ['project' as const],
  ),
});

export const AppPart = v.strictObject({
  slug: said(AppSlug, 'The permanent name of the app; it belongs to the project that registers it.'),
  display_name: said(v.pipe(line(100), v.nonEmpty()), 'The name shown to people.'),
  description: v.optional(said(text(2000), 'What it is for.'), ''),
  category: v.optional(said(v.picklist(CATEGORIES), 'The category in the catalogue.'), 'other'),
  publisher: v.optional(said(line(100), 'The publisher, as people know it.'), ''),
  support_level: v.optional(said(v.picklist(SUPPORT_LEVELS), 'The support users can expect.'), 'community'),
  documentation_url: v.optional(said(HttpsUrl, 'The documentation of the app.')),
  runtime_backend: v.optional(
    said(
      v.picklist(RUNTIME_BACKENDS),
      'The backend that runs the app; may be omitted if the version or its runtime profile names it.',
    ),
  ),
  supported_modes: v.optional(said(SupportedModes, 'The ways the app can be operated.'), () => ({
    operating_modes: ['tenant_dedicated' as const],
    control_plane_scopes: ['project' as const],
  })),
  ui_kind: v.optional(
    said(
      v.picklist(UI_KINDS),
      'embedded: the app has pages of its own. metadata_only: the platform shows a page about it. The same as ui.extension_kind if omitted.',
    ),
  ),
});

const Artifact = v.strictObject({
  name: said(ItemName, 'The name components use for it.'),
  artifact_kind: v.optional(
    said(v.picklist(ARTIFACT_KINDS), 'blob: a file. All other kinds are images in the registry.'),
    'oci',
  ),
  variant: v.optional(said(ItemName, 'The variant it is for, if several artifacts have the same name.')),
  source_type: v.optional(
    said(v.picklist(['oci_registry', 'artifact_store']), 'Where it is stored; artifact_store for blobs.'),
  ),
  repository: v.optional(
    said(RepositoryName, 'Its repository, without a tag; in the platform’s registry if no host is given.'),
  ),
  digest: v.optional(
    said(Digest, 'Identifies the exact content; may be omitted while the version is a draft.'),
  ),
});

const Compatibility = v.strictObject({
  requires_capacity_shape: v.optional(
    someOf(v.picklist(CAPACITY_SHAPES), CAPACITY_SHAPES.length, 'The shapes of allocations it runs on.'),
    () => [...CAPACITY_SHAPES],
  ),
  min_gpu_count: v.optional(said(wholeNumber(0, 64), 'The number of GPUs an allocation must have.'), 0),
  min_gpu_memory_mib: v.optional(said(wholeNumber(1, 1024 * 1024), 'The memory each GPU must have.')),
  requires_exclusive_node: v.optional(said(v.boolean(), 'Whether it needs a node of its own.'), false),
  supported_accelerators: v.optional(
    someOf(
      v.picklist(ACCELERATORS),
      ACCELERATORS.length,
      'The accelerators it runs on; cpu: it also runs without GPUs.',
    ),
    () => [...ACCELERATORS],
  ),
});

/** Read by json-schema.ts: valibot only sees that it is an object. */
const SchemaAsSent = v.record(v.string(), v.unknown());

const UiHints = v.strictObject({
  order: maybeListOf(PropertyName, 100, 'The order in which parameters are shown.'),
  groups: maybeListOf(
    v.strictObject({
      name: said(ItemName, 'The name fields use for it.'),
      title: said(line(100), 'The title shown to people.'),
      description: v.optional(said(line(300), 'What the group is for.')),
    }),
    20,
    'The groups of the form.',
  ),
  fields: maybeListOf(
    v.strictObject({
      parameter: said(PropertyName, 'The name of the parameter.'),
      widget: v.optional(
        said(v.picklist(WIDGETS), 'The control that sets it; chosen by its schema if omitted.'),
      ),
      group: v.optional(said(ItemName, 'The group it belongs to.')),
      help: v.optional(said(text(500), 'Help text shown next to it.')),
      warning: v.optional(said(text(500), 'A warning shown next to it.')),
      placeholder: v.optional(said(line(100), 'Shown while it is empty.')),
    }),
    100,
    'How individual parameters are shown.',
  ),
});

const ExternalWorkerContract = v.strictObject({
  delivery: said(v.picklist(['polling']), 'How the worker receives operations.'),
  root: said(
    v.strictObject({
      component_key: said(Word, 'The name the worker uses for the component.'),
      allocation_id_key: said(Word, 'The key of the allocation in an operation.'),
      requested_phase: said(Word, 'The phase in which the component is requested.'),
      bound_phase: said(Word, 'The phase in which the component has its allocation.'),
    }),
    'The first component of an instance.',
  ),
  child_operation: v.optional(
    said(
      v.strictObject({
        component_key: said(Word, 'The name the worker uses for the component.'),
        allocation_ids_key: said(Word, 'The key of the allocations in an operation.'),
      }),
      'The components that are added to it.',
    ),
  ),
});

const RuntimeRequirements = v.strictObject({
  bootstrap_access_credential: v.optional(
    said(Word, 'The class of the credential a controller uses to reach its machines.'),
  ),
  operator_identity: v.optional(
    said(v.picklist(['service_account']), 'The identity with which it calls the platform.'),
  ),
});

const Ui = v.strictObject({
  extension_kind: said(
    v.picklist(UI_KINDS),
    'embedded: the app has pages of its own, reached through the gateway.',
  ),
  path: v.optional(said(UrlPath, 'The path of its own pages.')),
  component: v.optional(
    said(ItemName, 'The component that serves them, if several ports are exposed to the gateway.'),
  ),
  port: v.optional(said(PortNumber, 'The port that serves them.')),
});

/** Units that most apps count: as a kind, each stands for itself as the only unit. */
export const COUNTED = ['tokens', 'requests'] as const;

const Metering = v.strictObject({
  kind: said(
    v.picklist(['none', 'session_seconds', 'app_units', ...COUNTED]),
    'session_seconds: measured by the platform. app_units: the app also reports units of its own. tokens, requests: short for app_units with this one unit.',
  ),
  units: maybeListOf(
    v.strictObject({
      unit: said(Word, 'The name in usage records; not a unit the platform measures itself.'),
      title: v.optional(said(line(100), 'The title shown to people.')),
    }),
    20,
    'The units the app counts, for kind: app_units.',
  ),
});

const Member = v.strictObject({
  role: said(v.picklist(MEMBER_ROLES), 'The role of the members.'),
  min_count: v.optional(said(wholeNumber(0, 1000), 'The minimum number of members.'), 1),
  max_count: v.optional(said(wholeNumber(1, 1000), 'The maximum number of members.'), 1),
});

export const VersionPart = v.strictObject({
  version: said(VersionNumber, 'A semantic version, or dotted numbers such as 24.05.0.'),
  runtime_backend: v.optional(said(v.picklist(RUNTIME_BACKENDS), 'The same as the app’s.')),
  internal_testing: v.optional(
    said(v.boolean(), 'Whether only the publisher’s projects can see and launch the version.'),
    false,
  ),
  release_notes: v.optional(said(text(10_000), 'What is new in this version.'), ''),
  artifacts: v.optional(
    said(
      v.pipe(v.array(Artifact), v.maxLength(50)),
      'The artifacts the version uses; they are registered separately.',
    ),
  ),
  artifact_kind: v.optional(said(v.picklist(ARTIFACT_KINDS), 'The kind of artifact_ref.')),
  artifact_ref: v.optional(
    said(ImageRef, 'Instead of artifacts, if there is only one: it is then named runtime.'),
  ),
  compatibility: v.optional(said(Compatibility, 'The allocations that can run the version.')),
  runtime_profile: v.optional(
    said(RuntimeProfileAsSent, 'What is launched; required for launchable_oci and docker_compose.'),
  ),
  parameters: v.optional(
    said(SchemaAsSent, 'The parameters a person sets at launch: a schema of type object.'),
  ),
  ui_hints: v.optional(said(UiHints, 'How the launch form shows the parameters.')),
  placement_schema: v.optional(
    said(SchemaAsSent, 'The content of a placement intent: a schema of type object.'),
  ),
  config_schema: v.optional(said(SchemaAsSent, 'The config of an instance: a schema of type object.')),
  runtime_requirements: v.optional(said(RuntimeRequirements, 'What a controller of the app team needs.')),
  required_credential_classes: maybeListOf(Word, 20, 'The classes of credentials a project must have.'),
  external_worker_contract: v.optional(
    said(
      ExternalWorkerContract,
      'How a controller of the app team polls for operations and reports on them; for k8s, slurm, ray and bare_metal.',
    ),
  ),
  members: maybeListOf(
    Member,
    MEMBER_ROLES.length,
    'The roles of the members of an instance, and how many members each role has.',
  ),
  topology_notes: v.optional(said(text(2000), 'What people should know about its topology.')),
  ui: v.optional(said(Ui, 'The pages of the app.')),
  metering: v.optional(said(Metering, 'What is charged in addition to the allocation.'), () => ({
    kind: 'session_seconds' as const,
    units: [],
  })),
});

const SchemaVersion = v.optional(said(v.literal(1), 'The version of the manifest schema.'), 1);

export const ManifestAsSent = v.strictObject({
  schema_version: SchemaVersion,
  app: AppPart,
  version: VersionPart,
});
export type ManifestAsSent = v.InferOutput<typeof ManifestAsSent>;

/** As many as one transaction registers, with everything that is told of each. */
export const PACKAGE_VERSIONS_MAX = 10;

const Versions = someOf(
  VersionPart,
  PACKAGE_VERSIONS_MAX,
  'Several versions of the app, each registered by itself.',
);

/**
 * The other spellings: everything at the top, and several versions of one app. Only the exported schema needs them:
 * what is sent is first brought into the form above.
 */
export const OTHER_SPELLINGS = {
  flat: v.strictObject({ schema_version: SchemaVersion, ...AppPart.entries, ...VersionPart.entries }),
  nested_versions: v.strictObject({ schema_version: SchemaVersion, app: AppPart, versions: Versions }),
  flat_versions: v.strictObject({ schema_version: SchemaVersion, ...AppPart.entries, versions: Versions }),
};
