/** Everything a function may read from its environment; the CDK app can set no other name. */
export const VARIABLES = [
  'ARTIFACTS_BUCKET',
  'AUTHORIZATION_CACHE_SECONDS',
  'CONTROL_TABLE',
  'EVENT_BUS_NAME',
  'FAILURE_QUEUE_URL',
  'FRONT_SECRET',
  'HEARTBEAT_SECONDS',
  'HOST_KEY_ID',
  'INVITATIONS_WITHOUT_EMAIL',
  'NODE_LOST_SECONDS',
  'NODE_SUSPECT_SECONDS',
  'OIDC_ISSUERS',
  'PLATFORM_ADMINS',
  'PLATFORM_REPOSITORY',
  'PLATFORM_VERSION',
  'PROMOTION_MACHINE_ARN',
  'PUBLISHER_ROLE_ARN',
  'PULLER_ROLE_ARN',
  'QUEUE_READER_ROLE_ARN',
  'QUEUE_URL',
  'REACTION_QUEUES',
  'REGISTRY_HOST',
  'REGISTRY_NAME',
  'RELAY_QUEUE_URL',
  'ROOT_WITHOUT_REMAP',
  'SELFTEST_MACHINE_ARN',
  'SELFTEST_QUEUE_URL',
  'SIGNING_KEY_IDS',
  'SOCKET_URL',
  'STOP_INSTANCES_MACHINE_ARN',
  'TOKEN_ISSUER',
  'TOKEN_TTL_SECONDS',
] as const;

export type Variable = (typeof VARIABLES)[number];

export function environment(name: Variable): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the function's construct in lib/ must set it.`);
  return value;
}
