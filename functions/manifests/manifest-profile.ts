// The launch profile of a version: what runs, on what, and what a person may choose. Wire schemas only: what several
// fields say together is judged in manifest-profile-checks.ts.

import * as v from 'valibot';
import { RUNTIME_BACKENDS } from '../catalog/app.ts';
import {
  Command,
  EnvName,
  ImageRef,
  ItemName,
  line,
  maybeListOf,
  PortNumber,
  PropertyName,
  said,
  someOf,
  text,
  UrlPath,
  wholeNumber,
  Word,
} from './manifest-fields.ts';

const ENGINES = ['node_agent', 'docker_compose', 'kubernetes', 'helm', 'dstack'] as const;
export type Engine = (typeof ENGINES)[number];

export const ACCELERATORS = ['nvidia', 'amd', 'cpu'] as const;

export const MEMBER_ROLES = ['controller', 'worker', 'head', 'node'] as const;

const MIB_MAX = 16 * 1024 * 1024;
const GIB_MAX = 100 * 1024;

const EnvEntry = v.strictObject({
  name: said(EnvName, 'The name of the variable.'),
  value: v.optional(said(text(4096), 'The value, the same in every instance; never a secret.')),
  parameter: v.optional(said(PropertyName, 'Instead of value: the parameter that provides it.')),
  secret: v.optional(said(ItemName, 'Instead of value: the secret that provides it.')),
});

const Port = v.strictObject({
  container: said(PortNumber, 'The port the process listens on inside its container.'),
  protocol: v.optional(said(v.picklist(['tcp', 'udp']), 'The transport protocol.'), 'tcp'),
  expose: v.optional(
    said(
      v.picklist(['none', 'private', 'embedded_ui_gateway']),
      'none: for other components only. private: on the host’s loopback. embedded_ui_gateway: for people, through the platform.',
    ),
    'private',
  ),
  name: v.optional(said(ItemName, 'The name shown to people.')),
});

const Health = v.strictObject({
  kind: said(
    v.picklist(['http', 'tcp', 'command', 'heartbeat']),
    'How the component is checked; heartbeat: the app reports by itself.',
  ),
  port: v.optional(said(PortNumber, 'For http and tcp: a container port of the component.')),
  path: v.optional(said(UrlPath, 'For http: the path that is requested.')),
  command: v.optional(said(Command, 'For command: the command that is run inside the container.')),
  interval_seconds: v.optional(said(wholeNumber(1, 300), 'The time between two checks.'), 10),
  timeout_seconds: v.optional(said(wholeNumber(1, 300), 'How long one check may take.'), 5),
  failures: v.optional(
    said(wholeNumber(1, 100), 'The number of failures in a row that make it unhealthy.'),
    3,
  ),
  start_seconds: v.optional(said(wholeNumber(0, 3600), 'How long it may take to become ready.'), 60),
});

const Bootstrap = v.strictObject({
  command: said(Command, 'The command to run; exit status 0 means that the component is prepared.'),
  timeout_seconds: v.optional(
    said(wholeNumber(1, 3600), 'How long it may take before the start counts as failed.'),
    300,
  ),
});

export const Resources = v.strictObject({
  gpu_count: v.optional(said(wholeNumber(0, 64), 'The number of GPUs.')),
  gpu_placement: v.optional(
    said(
      v.picklist(['any', 'packed', 'spread', 'exclusive']),
      'packed: close to each other. spread: far from each other. exclusive: shared with no other component.',
    ),
  ),
  tensor_parallel: v.optional(said(wholeNumber(1, 64), 'The number of GPUs one model is split over.')),
  min_vcpu: v.optional(
    said(v.pipe(v.number(), v.minValue(0.1), v.maxValue(1024)), 'The minimum number of cores.'),
  ),
  min_memory_mib: v.optional(said(wholeNumber(16, MIB_MAX), 'The minimum memory.')),
  shared_memory_mib: v.optional(said(wholeNumber(1, MIB_MAX), 'How much of the memory processes may share.')),
});
export type Resources = v.InferOutput<typeof Resources>;

const ParameterArgument = v.strictObject({
  parameter: said(PropertyName, 'The name of the parameter.'),
  flag: said(
    v.pipe(
      v.string(),
      v.regex(/^--?[A-Za-z0-9][A-Za-z0-9-]*$/, 'A flag such as --max-model-len.'),
      v.maxLength(64),
    ),
    'The flag before the value.',
  ),
});

/** What one container is started with. A profile of a single container may say it without a list of components. */
const CONTAINER = {
  artifact: v.optional(
    said(ItemName, 'The entry of artifacts that it runs; its variant is chosen at launch.'),
  ),
  image_ref: v.optional(said(ImageRef, 'Instead of artifact: the image itself, by digest.')),
  command: v.optional(said(Command, 'Replaces the entry point of the image.')),
  args: v.optional(said(Command, 'Replaces the arguments of the image.')),
  parameter_args: maybeListOf(
    ParameterArgument,
    50,
    'Appended to args as flag and value, for each parameter that is set.',
  ),
  env: maybeListOf(EnvEntry, 100, 'Environment variables: a plain value, or where the value comes from.'),
  ports: maybeListOf(Port, 20, 'The ports it listens on, and who may reach them.'),
  bootstrap: v.optional(
    said(
      Bootstrap,
      'A command that runs once inside the container, before the component is checked for readiness.',
    ),
  ),
  health: v.optional(said(Health, 'How the platform checks that it is ready and stays ready.')),
};

export const Component = v.strictObject({
  name: said(ItemName, 'The name other parts of the profile use for it.'),
  role: v.optional(said(v.picklist(MEMBER_ROLES), 'The role of the members it creates.')),
  ...CONTAINER,
  resources: v.optional(said(Resources, 'The part of the profile’s resources it needs.')),
  storage: v.optional(
    said(
      v.pipe(v.array(ItemName), v.maxLength(10)),
      'The entries of storage it gets; all of them if omitted.',
    ),
  ),
  depends_on: maybeListOf(ItemName, 20, 'Components that must be ready before it starts.'),
});
export type Component = v.InferOutput<typeof Component>;

const Variant = v.strictObject({
  name: said(ItemName, 'The name artifacts use for it: cpu, nvidia-h200, amd-rocm.'),
  accelerator: said(v.picklist(ACCELERATORS), 'The accelerator it is built for.'),
  description: v.optional(said(line(200), 'Helps people choose a variant.')),
  resources: v.optional(said(Resources, 'Replaces the resources of the profile for this variant.')),
});

const Storage = v.strictObject({
  name: said(ItemName, 'The name components use for it.'),
  path: said(
    v.picklist(
      ['/workspace', '/data'],
      'One of /workspace, /data.\nThe platform mounts storage at these paths only.',
    ),
    'Where it is mounted in components.',
  ),
  kinds: someOf(
    v.picklist(['scratch', 'persistent']),
    2,
    'The kinds a person may choose from, the default first. Scratch is deleted with the instance, persistent stays with the project.',
  ),
  min_gib: v.optional(said(wholeNumber(1, GIB_MAX), 'The minimum size.')),
  max_gib: v.optional(said(wholeNumber(1, GIB_MAX), 'The maximum size.')),
  read_only: v.optional(said(v.boolean(), 'Whether it is read-only for components.'), false),
  description: v.optional(said(line(200), 'What it is for.')),
});

const AddOn = v.strictObject({
  name: said(ItemName, 'The name a launch uses for it.'),
  title: said(line(100), 'The title shown to people.'),
  description: v.optional(said(text(500), 'What it does.')),
  cost: said(line(200), 'What it costs to enable it, in words.'),
  resources: v.optional(said(Resources, 'The additional resources it needs.')),
  components: someOf(ItemName, 20, 'The components that run only when it is enabled.'),
  enabled_by_default: v.optional(
    said(v.boolean(), 'Whether it is enabled unless a person disables it.'),
    false,
  ),
});

const Secret = v.strictObject({
  name: said(ItemName, 'The name a launch uses for it.'),
  title: v.optional(said(line(100), 'The title shown to people.')),
  description: v.optional(said(text(500), 'What it is for.')),
  required: v.optional(said(v.boolean(), 'Whether a launch is refused without it.'), true),
  credential_class: v.optional(said(Word, 'The class of credentials that may be used for it.')),
  env: v.optional(said(EnvName, 'The variable that receives it; either this or path.')),
  path: v.optional(
    said(
      v.pipe(
        v.string(),
        v.regex(/^\/run\/secrets\/[a-z0-9][a-z0-9._-]*$/, 'A file directly under /run/secrets/.'),
        v.maxLength(100),
      ),
      'The file that receives it.',
    ),
  ),
});

const Output = v.strictObject({
  name: said(ItemName, 'The name programs use for it.'),
  title: said(line(100), 'The title shown to people.'),
  kind: said(
    v.picklist(['endpoint', 'dashboard', 'command', 'text']),
    'An address, a page, a command to copy, or text.',
  ),
  component: v.optional(
    said(ItemName, 'For an address: its component; may be omitted if there is only one.'),
  ),
  port: v.optional(said(PortNumber, 'For an address: a container port of the component.')),
  path: v.optional(said(UrlPath, 'For an address: its path.')),
  text: v.optional(said(text(2000), 'For command and text: the text that is shown.')),
});

const ValidationCommand = v.strictObject({
  name: said(ItemName, 'The name reports use for it.'),
  stage: v.optional(
    said(
      v.picklist(['smoke', 'readiness']),
      'smoke: before the version leaves draft. readiness: before an instance counts as running.',
    ),
    'smoke',
  ),
  component: v.optional(
    said(ItemName, 'The component in which it runs; may be omitted if there is only one.'),
  ),
  command: said(Command, 'The command to run; exit status 0 means that it passed.'),
  timeout_seconds: v.optional(said(wholeNumber(1, 3600), 'How long it may take.'), 60),
});

const ResourceParameters = v.strictObject({
  gpu_count: v.optional(said(PropertyName, 'The parameter that sets the number of GPUs.')),
  tensor_parallel: v.optional(
    said(PropertyName, 'The parameter that sets the number of GPUs a model is split over.'),
  ),
  vcpu: v.optional(said(PropertyName, 'The parameter that sets the number of cores.')),
  memory_mib: v.optional(said(PropertyName, 'The parameter that sets the memory.')),
  shared_memory_mib: v.optional(said(PropertyName, 'The parameter that sets the shared memory.')),
});

export const RuntimeProfileAsSent = v.strictObject({
  kind: said(v.picklist(RUNTIME_BACKENDS), 'The runtime backend; the same as the app’s.'),
  renderer: v.optional(said(Word, 'A curated renderer such as vllm_openai; the plain one if omitted.')),
  engines: v.optional(
    someOf(v.picklist(ENGINES), ENGINES.length, 'The engines that can run it, the preferred one first.'),
  ),
  chart: v.optional(said(ItemName, 'For the helm engine: the entry of artifacts that holds the chart.')),
  variants: maybeListOf(Variant, 20, 'The kinds of hardware it is built for.'),
  components: v.optional(someOf(Component, 20, 'The containers it consists of.')),
  ...CONTAINER,
  resources: v.optional(said(Resources, 'The resources all components need together.'), () => ({})),
  resource_parameters: v.optional(
    said(ResourceParameters, 'Integer parameters that set resources at launch.'),
    () => ({}),
  ),
  storage: maybeListOf(Storage, 2, 'The storage that is mounted, and the choices a person has.'),
  add_ons: maybeListOf(AddOn, 20, 'Optional parts a person may enable, and what they cost.'),
  secrets: maybeListOf(
    Secret,
    20,
    'Secrets are declared here and chosen at launch; a manifest never contains their values.',
  ),
  outputs: maybeListOf(Output, 20, 'What a running instance offers to people and programs.'),
  validation: maybeListOf(ValidationCommand, 20, 'Commands that check that the app works.'),
  stop_grace_seconds: v.optional(
    said(wholeNumber(1, 600), 'How long it may take to stop before it is killed.'),
    30,
  ),
});
export type RuntimeProfileAsSent = v.InferOutput<typeof RuntimeProfileAsSent>;

/** Canonical: the container a short profile describes is its one component, and the engines are said. */
export type RuntimeProfile = Omit<RuntimeProfileAsSent, keyof typeof CONTAINER | 'components' | 'engines'> & {
  components: Component[];
  engines: Engine[];
};

export const SINGLE_CONTAINER_FIELDS = Object.keys(CONTAINER) as (keyof typeof CONTAINER)[];
