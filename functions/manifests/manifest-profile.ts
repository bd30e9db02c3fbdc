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
  name: said(EnvName, 'The variable.'),
  value: v.optional(said(text(4096), 'Its value, the same in every instance; never a secret.')),
  parameter: v.optional(said(PropertyName, 'In place of value: the parameter whose value it gets.')),
  secret: v.optional(said(ItemName, 'In place of value: the secret whose value it gets.')),
});

const Port = v.strictObject({
  container: said(PortNumber, 'What the process listens on inside its container.'),
  protocol: v.optional(said(v.picklist(['tcp', 'udp']), 'What is spoken on it.'), 'tcp'),
  expose: v.optional(
    said(
      v.picklist(['none', 'private', 'embedded_ui_gateway']),
      'none: for other components only. private: on the host’s loopback. embedded_ui_gateway: for people, through the platform.',
    ),
    'private',
  ),
  name: v.optional(said(ItemName, 'What people call it.')),
});

const Health = v.strictObject({
  kind: said(
    v.picklist(['http', 'tcp', 'command', 'heartbeat']),
    'How it is asked; heartbeat: the app reports by itself.',
  ),
  port: v.optional(said(PortNumber, 'For http and tcp: a container port of the component.')),
  path: v.optional(said(UrlPath, 'For http: what is fetched.')),
  command: v.optional(said(Command, 'For command: what is run inside the container.')),
  interval_seconds: v.optional(said(wholeNumber(1, 300), 'How often it is asked.'), 10),
  timeout_seconds: v.optional(said(wholeNumber(1, 300), 'How long an answer may take.'), 5),
  failures: v.optional(said(wholeNumber(1, 100), 'How many in a row make it unhealthy.'), 3),
  start_seconds: v.optional(said(wholeNumber(0, 3600), 'How long it may take to become ready.'), 60),
});

export const Resources = v.strictObject({
  gpu_count: v.optional(said(wholeNumber(0, 64), 'How many GPUs.')),
  gpu_placement: v.optional(
    said(
      v.picklist(['any', 'packed', 'spread', 'exclusive']),
      'packed: close to each other. spread: far from each other. exclusive: shared with no other component.',
    ),
  ),
  tensor_parallel: v.optional(said(wholeNumber(1, 64), 'Over how many GPUs one model is split.')),
  min_vcpu: v.optional(
    said(v.pipe(v.number(), v.minValue(0.1), v.maxValue(1024)), 'How many cores at least.'),
  ),
  min_memory_mib: v.optional(said(wholeNumber(16, MIB_MAX), 'How much memory at least.')),
  shared_memory_mib: v.optional(said(wholeNumber(1, MIB_MAX), 'How much of it processes may share.')),
});
export type Resources = v.InferOutput<typeof Resources>;

const ParameterArgument = v.strictObject({
  parameter: said(PropertyName, 'The parameter.'),
  flag: said(
    v.pipe(
      v.string(),
      v.regex(/^--?[A-Za-z0-9][A-Za-z0-9-]*$/, 'A flag such as --max-model-len.'),
      v.maxLength(64),
    ),
    'The flag its value follows.',
  ),
});

/** What one container is started with. A profile of a single container may say it without a list of components. */
const CONTAINER = {
  artifact: v.optional(
    said(ItemName, 'The entry of artifacts it runs; which variant of it is chosen at launch.'),
  ),
  image_ref: v.optional(said(ImageRef, 'In place of artifact: the image itself, by digest.')),
  command: v.optional(said(Command, 'In place of the image’s entry point.')),
  args: v.optional(said(Command, 'In place of the image’s arguments.')),
  parameter_args: maybeListOf(
    ParameterArgument,
    50,
    'Appended to args as flag and value, for each parameter that was given.',
  ),
  env: maybeListOf(EnvEntry, 100, 'Environment variables: a plain value, or where the value comes from.'),
  ports: maybeListOf(Port, 20, 'What it listens on, and who may reach it.'),
  health: v.optional(said(Health, 'How the platform knows that it is ready and stays so.')),
};

export const Component = v.strictObject({
  name: said(ItemName, 'What other parts of the profile call it.'),
  role: v.optional(said(v.picklist(MEMBER_ROLES), 'The role of the members it makes.')),
  ...CONTAINER,
  resources: v.optional(said(Resources, 'What it needs of the profile’s resources.')),
  storage: v.optional(
    said(v.pipe(v.array(ItemName), v.maxLength(10)), 'Which entries of storage it gets; all, when left out.'),
  ),
  depends_on: maybeListOf(ItemName, 20, 'Components that must be ready before it starts.'),
});
export type Component = v.InferOutput<typeof Component>;

const Variant = v.strictObject({
  name: said(ItemName, 'As artifacts name it: cpu, nvidia-h200, amd-rocm.'),
  accelerator: said(v.picklist(ACCELERATORS), 'What it is made for.'),
  description: v.optional(said(line(200), 'For those who choose.')),
  resources: v.optional(said(Resources, 'In place of the profile’s, for this variant.')),
});

const Storage = v.strictObject({
  name: said(ItemName, 'What components call it.'),
  path: said(
    v.picklist(
      ['/workspace', '/data'],
      'One of /workspace, /data.\nThe platform mounts storage at these paths only.',
    ),
    'Where components find it.',
  ),
  kinds: someOf(
    v.picklist(['scratch', 'persistent']),
    2,
    'What a person may choose from, the default first. Scratch goes with the instance, persistent stays with the project.',
  ),
  min_gib: v.optional(said(wholeNumber(1, GIB_MAX), 'How small it may be.')),
  max_gib: v.optional(said(wholeNumber(1, GIB_MAX), 'How large it may be.')),
  read_only: v.optional(said(v.boolean(), 'Whether components may only read it.'), false),
  description: v.optional(said(line(200), 'What it is for.')),
});

const AddOn = v.strictObject({
  name: said(ItemName, 'What a launch calls it.'),
  title: said(line(100), 'What people see.'),
  description: v.optional(said(text(500), 'What it does.')),
  cost: said(line(200), 'What it costs the person who ticks it, in words.'),
  resources: v.optional(said(Resources, 'What it needs on top.')),
  components: someOf(ItemName, 20, 'Components that run only with it.'),
  enabled_by_default: v.optional(said(v.boolean(), 'Whether it is ticked at first.'), false),
});

const Secret = v.strictObject({
  name: said(ItemName, 'What a launch calls it.'),
  title: v.optional(said(line(100), 'What people see.')),
  description: v.optional(said(text(500), 'What it is for.')),
  required: v.optional(said(v.boolean(), 'Whether a launch is refused without it.'), true),
  credential_class: v.optional(said(Word, 'Which of the project’s credentials may be used for it.')),
  env: v.optional(said(EnvName, 'The variable it is put into; either this or path.')),
  path: v.optional(
    said(
      v.pipe(
        v.string(),
        v.regex(/^\/run\/secrets\/[a-z0-9][a-z0-9._-]*$/, 'A file directly under /run/secrets/.'),
        v.maxLength(100),
      ),
      'The file it is put into.',
    ),
  ),
});

const Output = v.strictObject({
  name: said(ItemName, 'What programs call it.'),
  title: said(line(100), 'What people see.'),
  kind: said(
    v.picklist(['endpoint', 'dashboard', 'command', 'text']),
    'An address, a page, a command to copy, or words.',
  ),
  component: v.optional(said(ItemName, 'For an address: whose; the only one, when left out.')),
  port: v.optional(said(PortNumber, 'For an address: a container port of the component.')),
  path: v.optional(said(UrlPath, 'For an address: where it begins.')),
  text: v.optional(said(text(2000), 'For command and text: what is shown.')),
});

const ValidationCommand = v.strictObject({
  name: said(ItemName, 'What reports call it.'),
  stage: v.optional(
    said(
      v.picklist(['smoke', 'readiness']),
      'smoke: before the version leaves draft. readiness: before an instance counts as running.',
    ),
    'smoke',
  ),
  component: v.optional(said(ItemName, 'Where it is run; in the only one, when left out.')),
  command: said(Command, 'It passes with exit status 0.'),
  timeout_seconds: v.optional(said(wholeNumber(1, 3600), 'How long it may take.'), 60),
});

const ResourceParameters = v.strictObject({
  gpu_count: v.optional(said(PropertyName, 'The parameter that sets the number of GPUs.')),
  tensor_parallel: v.optional(said(PropertyName, 'The parameter that sets over how many a model is split.')),
  vcpu: v.optional(said(PropertyName, 'The parameter that sets the number of cores.')),
  memory_mib: v.optional(said(PropertyName, 'The parameter that sets the memory.')),
  shared_memory_mib: v.optional(said(PropertyName, 'The parameter that sets the shared memory.')),
});

export const RuntimeProfileAsSent = v.strictObject({
  kind: said(v.picklist(RUNTIME_BACKENDS), 'The runtime backend; the same as the app’s.'),
  renderer: v.optional(said(Word, 'A curated renderer such as vllm_openai; the plain one, when left out.')),
  engines: v.optional(
    someOf(v.picklist(ENGINES), ENGINES.length, 'What can run it, the preferred one first.'),
  ),
  chart: v.optional(said(ItemName, 'For the helm engine: the entry of artifacts that is the chart.')),
  variants: maybeListOf(Variant, 20, 'Kinds of hardware it is built for.'),
  components: v.optional(someOf(Component, 20, 'The containers it consists of.')),
  ...CONTAINER,
  resources: v.optional(said(Resources, 'What all components together need.'), () => ({})),
  resource_parameters: v.optional(
    said(ResourceParameters, 'Integer parameters by which a person sets resources at launch.'),
    () => ({}),
  ),
  storage: maybeListOf(Storage, 2, 'What is mounted, and what a person may choose for it.'),
  add_ons: maybeListOf(AddOn, 20, 'What a person may switch on, and what it costs.'),
  secrets: maybeListOf(Secret, 20, 'Named here, chosen at launch, never written in a manifest.'),
  outputs: maybeListOf(Output, 20, 'What a person gets of a running instance.'),
  validation: maybeListOf(ValidationCommand, 20, 'Commands that show that it works.'),
  stop_grace_seconds: v.optional(
    said(wholeNumber(1, 600), 'How long it may take to stop before it is ended.'),
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
