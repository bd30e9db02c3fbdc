// The two samples app teams start from, one in each spelling, and one that says everything a manifest can say.

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const OTHER_DIGEST = `sha256:${'cd'.repeat(32)}`;
const IMAGE = `registry.gpuaas.example.com/apps/jupyter-cuda-dev@${DIGEST}`;

/** The JSON sample, with a full digest in place of the shortened one. */
export const flatSample = () => ({
  slug: 'jupyter-cuda-dev',
  display_name: 'Jupyter (CUDA dev)',
  version: '1.4.2',
  artifact_kind: 'oci',
  artifact_ref: IMAGE,
  compatibility: {
    requires_capacity_shape: ['baremetal', 'gpu_slice'],
    min_gpu_count: 1,
    requires_exclusive_node: false,
    supported_accelerators: ['nvidia'],
  },
  runtime_profile: {
    kind: 'launchable_oci',
    image_ref: IMAGE,
    command: ['jupyter', 'lab', '--ip=0.0.0.0', '--port=8888'],
    env: [{ name: 'GRANT_SUDO', value: 'no' }],
    ports: [{ container: 8888, expose: 'embedded_ui_gateway' }],
    resources: { min_memory_mib: 4096, min_vcpu: 4 },
  },
  ui: { extension_kind: 'embedded', path: '/lab' },
  metering: { kind: 'session_seconds' },
});

/** The YAML sample, as it is written. */
export const nestedSampleYaml = `
app:
  slug: slurm-reference
  display_name: Slurm Reference
  runtime_backend: slurm
  supported_modes:
    operating_modes: [tenant_dedicated]
    control_plane_scopes: [project, tenant]
version:
  version: 24.05.0
  runtime_backend: slurm
  placement_schema:
    type: object
    properties:
      controller_allocation_ids:
        type: array
        items: { type: string }
  config_schema:
    type: object
  runtime_requirements:
    bootstrap_access_credential: ssh_key
    operator_identity: service_account
  external_worker_contract:
    delivery: polling
    root:
      component_key: controller
      allocation_id_key: controller_allocation_id
      requested_phase: controller_requested
      bound_phase: controller_allocation_bound
    child_operation:
      component_key: worker
      allocation_ids_key: worker_allocation_ids
  artifacts:
    - name: runtime
      artifact_kind: oci
      source_type: oci_registry
      repository: apps/slurm-reference/runtime
`;

/** A model server with a gateway and an add-on: every field of the schema is in it. */
export const fullSample = () => ({
  schema_version: 1,
  app: {
    slug: 'model-server',
    display_name: 'Model server',
    description: 'Serves a model.\nWith dashboards.',
    category: 'inference',
    publisher: 'Example Labs',
    support_level: 'supported',
    documentation_url: 'https://docs.example.com/model-server',
    runtime_backend: 'docker_compose',
    supported_modes: {
      operating_modes: ['tenant_dedicated', 'platform_managed'],
      control_plane_scopes: ['project', 'platform'],
    },
    ui_kind: 'embedded',
  },
  version: {
    version: '2.0.0-rc.1',
    runtime_backend: 'docker_compose',
    internal_testing: true,
    release_notes: 'First candidate.',
    artifacts: [
      {
        name: 'server',
        artifact_kind: 'oci',
        variant: 'nvidia-h200',
        source_type: 'oci_registry',
        repository: 'apps/model-server/server',
        digest: DIGEST,
      },
      {
        name: 'server',
        artifact_kind: 'oci',
        variant: 'cpu',
        source_type: 'oci_registry',
        repository: 'apps/model-server/server',
        digest: OTHER_DIGEST,
      },
      {
        name: 'gateway',
        artifact_kind: 'launchable',
        source_type: 'oci_registry',
        repository: 'apps/model-server/gateway',
        digest: DIGEST,
      },
      {
        name: 'tokenizer',
        artifact_kind: 'blob',
        source_type: 'artifact_store',
        repository: 'apps/model-server/tokenizer',
        digest: DIGEST,
      },
    ],
    compatibility: {
      requires_capacity_shape: ['baremetal', 'gpu_slice'],
      min_gpu_count: 2,
      min_gpu_memory_mib: 40_960,
      requires_exclusive_node: false,
      supported_accelerators: ['nvidia'],
    },
    runtime_profile: {
      kind: 'docker_compose',
      renderer: 'vllm_openai',
      engines: ['docker_compose'],
      variants: [
        {
          name: 'nvidia-h200',
          accelerator: 'nvidia',
          description: 'For H200',
          resources: { gpu_count: 2, tensor_parallel: 2 },
        },
        { name: 'cpu', accelerator: 'cpu' },
      ],
      components: [
        {
          name: 'server',
          role: 'worker',
          artifact: 'server',
          command: ['serve'],
          args: ['--host', '0.0.0.0'],
          parameter_args: [{ parameter: 'max_model_len', flag: '--max-model-len' }],
          env: [
            { name: 'MODEL', parameter: 'model' },
            { name: 'HUB_TOKEN', secret: 'hub-token' },
            { name: 'LOG_LEVEL', value: 'info' },
          ],
          ports: [{ container: 8000, protocol: 'tcp', expose: 'none', name: 'api' }],
          bootstrap: { command: ['fetch-weights', '--to', '/data'], timeout_seconds: 1800 },
          health: {
            kind: 'http',
            port: 8000,
            path: '/health',
            interval_seconds: 10,
            timeout_seconds: 5,
            failures: 3,
            start_seconds: 600,
          },
          resources: {
            gpu_count: 2,
            gpu_placement: 'packed',
            tensor_parallel: 2,
            min_vcpu: 8,
            min_memory_mib: 65_536,
            shared_memory_mib: 16_384,
          },
          storage: ['models'],
          depends_on: [],
        },
        {
          name: 'gateway',
          role: 'head',
          image_ref: `apps/model-server/gateway@${DIGEST}`,
          parameter_args: [],
          env: [],
          ports: [{ container: 8080, protocol: 'tcp', expose: 'embedded_ui_gateway' }],
          health: {
            kind: 'command',
            command: ['ready'],
            interval_seconds: 5,
            timeout_seconds: 5,
            failures: 1,
            start_seconds: 0,
          },
          depends_on: ['server'],
        },
        {
          name: 'grafana',
          artifact: 'gateway',
          parameter_args: [],
          env: [],
          ports: [{ container: 3000, protocol: 'tcp', expose: 'private' }],
          depends_on: ['gateway'],
        },
      ],
      resources: { gpu_count: 2 },
      resource_parameters: {
        gpu_count: 'gpu_count',
        tensor_parallel: 'gpu_count',
        vcpu: 'cores',
        memory_mib: 'memory_mib',
        shared_memory_mib: 'memory_mib',
      },
      storage: [
        {
          name: 'models',
          path: '/data',
          kinds: ['persistent', 'scratch'],
          min_gib: 50,
          max_gib: 2000,
          read_only: false,
          description: 'Weights',
        },
        { name: 'work', path: '/workspace', kinds: ['scratch'], read_only: false },
      ],
      add_ons: [
        {
          name: 'dashboards',
          title: 'Dashboards',
          description: 'Grafana',
          cost: 'One core and 1 GiB of memory',
          resources: { min_vcpu: 1, min_memory_mib: 1024 },
          components: ['grafana'],
          enabled_by_default: false,
        },
      ],
      secrets: [
        {
          name: 'hub-token',
          title: 'Hub token',
          description: 'Reads private models',
          required: false,
          credential_class: 'model_token',
          path: '/run/secrets/hub-token',
        },
        { name: 'admin-password', required: true, env: 'ADMIN_PASSWORD' },
      ],
      outputs: [
        { name: 'api', title: 'API', kind: 'endpoint', component: 'gateway', port: 8080, path: '/v1' },
        { name: 'try-it', title: 'Try it', kind: 'command', text: 'curl http://127.0.0.1:8080/v1/models' },
      ],
      validation: [
        {
          name: 'answers',
          stage: 'smoke',
          component: 'gateway',
          command: ['curl', '-f', 'http://127.0.0.1:8080/health'],
          timeout_seconds: 60,
        },
      ],
      stop_grace_seconds: 60,
    },
    parameters: {
      type: 'object',
      additionalProperties: false,
      properties: {
        model: {
          type: 'string',
          title: 'Model',
          minLength: 1,
          maxLength: 200,
          pattern: '^[\\w.-]+/[\\w.-]+$',
          default: 'example/tiny',
        },
        gpu_count: { type: 'integer', minimum: 1, maximum: 8, default: 2 },
        cores: { type: 'integer', minimum: 1 },
        memory_mib: { type: 'integer', minimum: 1024, multipleOf: 1024 },
        max_model_len: { type: 'integer', enum: [4096, 8192] },
        packages: {
          type: 'array',
          items: { type: 'string', maxLength: 100 },
          maxItems: 20,
          uniqueItems: true,
        },
      },
      required: ['model'],
    },
    ui_hints: {
      order: ['model', 'gpu_count'],
      groups: [{ name: 'hardware', title: 'Hardware', description: 'What it runs on' }],
      fields: [
        {
          parameter: 'gpu_count',
          widget: 'slider',
          group: 'hardware',
          help: 'More is faster.',
          warning: 'More costs more.',
          placeholder: '2',
        },
      ],
    },
    placement_schema: { type: 'object', properties: { allocation_id: { type: 'string', format: 'uuid' } } },
    config_schema: { type: 'object' },
    runtime_requirements: { bootstrap_access_credential: 'ssh_key', operator_identity: 'service_account' },
    required_credential_classes: ['model_token'],
    members: [{ role: 'head', min_count: 1, max_count: 1 }],
    topology_notes: 'One host.',
    ui: { extension_kind: 'embedded', path: '/', component: 'gateway', port: 8080 },
    metering: { kind: 'app_units', units: [{ unit: 'tokens', title: 'Tokens' }] },
  },
});
