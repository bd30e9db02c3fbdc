// The manifest as it is sent: the app, which all versions share, and one version of it. Wire schemas only: what several
// fields say together is judged in manifest-checks.ts.

import * as v from 'valibot';
import { Slug } from '../platform/name.ts';
import { CONTROL_PLANE_SCOPES, OPERATING_MODES, RUNTIME_BACKENDS } from '../catalog/app.ts';
import {
  Digest,
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
    someOf(v.picklist(OPERATING_MODES), OPERATING_MODES.length, 'Who keeps it running.'),
    () => ['tenant_dedicated' as const],
  ),
  control_plane_scopes: v.optional(
    someOf(v.picklist(CONTROL_PLANE_SCOPES), CONTROL_PLANE_SCOPES.length, 'Whom one of its runtimes serves.'),
    () => ['project' as const],
  ),
});

export const AppPart = v.strictObject({
  slug: said(Slug, 'Names the app for good; it belongs to the project that registers it.'),
  display_name: said(v.pipe(line(100), v.nonEmpty()), 'What people call it.'),
  description: v.optional(said(text(2000), 'What it is for.'), ''),
  category: v.optional(said(v.picklist(CATEGORIES), 'Where the catalogue shows it.'), 'other'),
  publisher: v.optional(said(line(100), 'Who stands behind it, as people know them.'), ''),
  support_level: v.optional(said(v.picklist(SUPPORT_LEVELS), 'What its users may count on.'), 'community'),
  documentation_url: v.optional(said(HttpsUrl, 'Where it is explained.')),
  runtime_backend: v.optional(
    said(
      v.picklist(RUNTIME_BACKENDS),
      'What runs it; may be left out where the version or its runtime profile says it.',
    ),
  ),
  supported_modes: v.optional(said(SupportedModes, 'How it can be operated.'), () => ({
    operating_modes: ['tenant_dedicated' as const],
    control_plane_scopes: ['project' as const],
  })),
  ui_kind: v.optional(
    said(
      v.picklist(UI_KINDS),
      'embedded: it has pages of its own. metadata_only: the platform’s. As ui.extension_kind, when left out.',
    ),
  ),
});

const Artifact = v.strictObject({
  name: said(ItemName, 'What components call it.'),
  artifact_kind: v.optional(
    said(v.picklist(ARTIFACT_KINDS), 'blob: a file. All others are in the registry.'),
    'oci',
  ),
  variant: v.optional(said(ItemName, 'For which variant, where there are several of one name.')),
  source_type: v.optional(
    said(v.picklist(['oci_registry', 'artifact_store']), 'Where it is kept; artifact_store for blobs.'),
  ),
  repository: v.optional(
    said(RepositoryName, 'Its repository, without tag; the platform’s, when no host is said.'),
  ),
  digest: v.optional(said(Digest, 'Binds it; may be left out while the version is a draft.')),
});

const Compatibility = v.strictObject({
  requires_capacity_shape: v.optional(
    someOf(v.picklist(CAPACITY_SHAPES), CAPACITY_SHAPES.length, 'Shapes of allocations it runs on.'),
    () => [...CAPACITY_SHAPES],
  ),
  min_gpu_count: v.optional(said(wholeNumber(0, 64), 'How many GPUs an allocation must have.'), 0),
  min_gpu_memory_mib: v.optional(
    said(wholeNumber(1, 1024 * 1024), 'How much memory each of them must have.'),
  ),
  requires_exclusive_node: v.optional(said(v.boolean(), 'Whether it must be alone on its node.'), false),
  supported_accelerators: v.optional(
    someOf(
      v.picklist(ACCELERATORS),
      ACCELERATORS.length,
      'Makes of GPUs it runs on; cpu: also where there are none.',
    ),
    () => [...ACCELERATORS],
  ),
});

/** Read by json-schema.ts: valibot only sees that it is an object. */
const SchemaAsSent = v.record(v.string(), v.unknown());

const UiHints = v.strictObject({
  order: maybeListOf(PropertyName, 100, 'Parameters, first to last.'),
  groups: maybeListOf(
    v.strictObject({
      name: said(ItemName, 'What fields call it.'),
      title: said(line(100), 'What people see.'),
      description: v.optional(said(line(300), 'What belongs in it.')),
    }),
    20,
    'Parts of the form.',
  ),
  fields: maybeListOf(
    v.strictObject({
      parameter: said(PropertyName, 'The parameter.'),
      widget: v.optional(
        said(v.picklist(WIDGETS), 'What it is set with; what fits its schema, when left out.'),
      ),
      group: v.optional(said(ItemName, 'The group it stands in.')),
      help: v.optional(said(text(500), 'Said beside it.')),
      warning: v.optional(said(text(500), 'Said beside it, so that nobody overlooks it.')),
      placeholder: v.optional(said(line(100), 'Shown while it is empty.')),
    }),
    100,
    'How single parameters are shown.',
  ),
});

const ExternalWorkerContract = v.strictObject({
  delivery: said(v.picklist(['polling']), 'How the worker learns of operations.'),
  root: said(
    v.strictObject({
      component_key: said(Word, 'What it calls the component.'),
      allocation_id_key: said(Word, 'Where an operation names its allocation.'),
      requested_phase: said(Word, 'The phase in which it is asked for.'),
      bound_phase: said(Word, 'The phase in which it has its allocation.'),
    }),
    'The component an instance begins with.',
  ),
  child_operation: v.optional(
    said(
      v.strictObject({
        component_key: said(Word, 'What it calls the component.'),
        allocation_ids_key: said(Word, 'Where an operation names its allocations.'),
      }),
      'What is added to it.',
    ),
  ),
});

const RuntimeRequirements = v.strictObject({
  bootstrap_access_credential: v.optional(
    said(Word, 'The credential class with which a controller reaches its machines.'),
  ),
  operator_identity: v.optional(said(v.picklist(['service_account']), 'As whom it calls the platform.')),
});

const Ui = v.strictObject({
  extension_kind: said(v.picklist(UI_KINDS), 'embedded: pages of its own, through the gateway.'),
  path: v.optional(said(UrlPath, 'Where its own pages begin.')),
  component: v.optional(said(ItemName, 'Whose they are, where several ports are open to the gateway.')),
  port: v.optional(said(PortNumber, 'On which port they are.')),
});

const Metering = v.strictObject({
  kind: said(
    v.picklist(['none', 'session_seconds', 'app_units']),
    'session_seconds: measured by the platform. app_units: the app sends units besides.',
  ),
  units: maybeListOf(
    v.strictObject({
      unit: said(Word, 'As usage records name it; none the platform measures itself.'),
      title: v.optional(said(line(100), 'What people see.')),
    }),
    20,
    'What the app counts, for kind: app_units.',
  ),
});

const Member = v.strictObject({
  role: said(v.picklist(MEMBER_ROLES), 'The role.'),
  min_count: v.optional(said(wholeNumber(0, 1000), 'How many at least.'), 1),
  max_count: v.optional(said(wholeNumber(1, 1000), 'How many at most.'), 1),
});

export const VersionPart = v.strictObject({
  version: said(VersionNumber, 'A semantic version, or dotted numbers such as 24.05.0.'),
  runtime_backend: v.optional(said(v.picklist(RUNTIME_BACKENDS), 'The same as the app’s.')),
  internal_testing: v.optional(
    said(v.boolean(), 'Launchable by its publisher’s projects, listed to no one else.'),
    false,
  ),
  release_notes: v.optional(said(text(10_000), 'What is new.'), ''),
  artifacts: v.optional(
    said(v.pipe(v.array(Artifact), v.maxLength(50)), 'What the version expects to find registered.'),
  ),
  artifact_kind: v.optional(said(v.picklist(ARTIFACT_KINDS), 'The kind of artifact_ref.')),
  artifact_ref: v.optional(
    said(ImageRef, 'In place of artifacts, where there is only one: it is then named runtime.'),
  ),
  compatibility: v.optional(said(Compatibility, 'Which allocations can run it.')),
  runtime_profile: v.optional(
    said(RuntimeProfileAsSent, 'What is launched; needed for launchable_oci and docker_compose.'),
  ),
  parameters: v.optional(said(SchemaAsSent, 'What a person chooses at launch: a schema of type object.')),
  ui_hints: v.optional(said(UiHints, 'How the launch form shows the parameters.')),
  placement_schema: v.optional(said(SchemaAsSent, 'What a placement intent says: a schema of type object.')),
  config_schema: v.optional(
    said(SchemaAsSent, 'What the config of an instance says: a schema of type object.'),
  ),
  runtime_requirements: v.optional(said(RuntimeRequirements, 'What a controller of the app team needs.')),
  required_credential_classes: maybeListOf(Word, 20, 'Classes of credentials a project must have.'),
  external_worker_contract: v.optional(
    said(
      ExternalWorkerContract,
      'How a controller of the app team polls for operations and reports them; for k8s, slurm, ray and bare_metal.',
    ),
  ),
  members: maybeListOf(
    Member,
    MEMBER_ROLES.length,
    'Roles of which an instance has members, and how many of each.',
  ),
  topology_notes: v.optional(said(text(2000), 'What people should know about its shape.')),
  ui: v.optional(said(Ui, 'Its pages.')),
  metering: v.optional(said(Metering, 'What is charged for besides the allocation.'), () => ({
    kind: 'session_seconds' as const,
    units: [],
  })),
});

const SchemaVersion = v.optional(said(v.literal(1), 'Which schema it is written in.'), 1);

export const ManifestAsSent = v.strictObject({
  schema_version: SchemaVersion,
  app: AppPart,
  version: VersionPart,
});
export type ManifestAsSent = v.InferOutput<typeof ManifestAsSent>;

/** The other spelling, everything at the top. Only the exported schema needs it: its fields are first put where they belong. */
export const FlatManifest = v.strictObject({
  schema_version: SchemaVersion,
  ...AppPart.entries,
  ...VersionPart.entries,
});
