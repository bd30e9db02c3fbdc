// What a host and the platform say to each other of the host itself; functions/tasks/agent-api.ts has what they say of what
// it is to run. Platform and agent import this one file; it is pure. All paths begin with /api/v1/nodes/{node_id}, but for
// those of tokens and releases.

import * as v from 'valibot';
import { PublicJwk } from '../platform/auth/token-shape.ts';
import { NodeId } from '../platform/ids.ts';
import { Digest, OneTimeToken, Time } from '../platform/name.ts';
import { Inventory } from './inventory.ts';

const Id = v.pipe(v.string(), v.uuid());
const text = (max: number) => v.pipe(v.string(), v.maxLength(max));
const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export { NODE_TOKEN_PATH } from '../platform/auth/node-principal.ts';

/**
 * POST …/enrolment, public: the join token admits it, once. `proof` shows that whoever brings the public key holds the
 * private one: a compact JWS (ES256) whose payload is `{aud: <node_id>, join_token_sha256: <hex>, iat: <seconds>}`.
 * Repeated with the same token and the same key it answers the same again, as an answer can be lost.
 */
export const Enrol = v.strictObject({
  join_token: OneTimeToken,
  public_key_jwk: v.strictObject(PublicJwk.entries),
  proof: text(4096),
  inventory: Inventory,
});

export const Enrolled = v.object({
  node_id: NodeId,
  name: v.string(),
  region: v.string(),
  registry_host: v.string(),
  /** Verifies what the platform signs for hosts: the trust policy and agent releases. */
  host_key: v.object({ ...PublicJwk.entries, kid: v.string() }),
  heartbeat_seconds: whole(1, 3600),
  port_range: v.object({ from: whole(1, 65_535), to: whole(1, 65_535) }),
});
export type Enrolled = v.InferOutput<typeof Enrolled>;

/** PUT …/inventory: when it has changed, and at each start of the agent. */
export const PutInventory = v.strictObject({ inventory: Inventory });

/**
 * POST …/heartbeat: one write. `run_id` is new with each start of the agent; a run that speaks after a later one has
 * spoken is somebody with a copy of the key. Only what has changed since the last heartbeat is told.
 */
export const Heartbeat = v.strictObject({
  run_id: Id,
  run_started_at: Time,
  sequence: whole(1, Number.MAX_SAFE_INTEGER),
  agent_version: text(32),
  /** What the agent holds. */
  workloads: v.optional(whole(0, 10_000)),
  disk_free_gib: v.optional(whole(0, 16 * 1024 * 1024)),
  memory_free_mib: v.optional(whole(0, 64 * 1024 * 1024)),
  load: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100_000))),
  /** In words, at most a few: what `gpuaas-agent doctor` would complain of. */
  problems: v.optional(v.pipe(v.array(text(200)), v.maxLength(10))),
});
export type Heartbeat = v.InferOutput<typeof Heartbeat>;
export const HeartbeatReply = v.object({ heartbeat_seconds: whole(1, 3600) });

/** POST …/queue-credentials */
export const QueueCredentials = v.object({
  queue_url: v.string(),
  region: v.string(),
  access_key_id: v.string(),
  secret_access_key: v.string(),
  session_token: v.string(),
  expires_at: Time,
});
export type QueueCredentials = v.InferOutput<typeof QueueCredentials>;

/** GET /api/v1/agent/release, public: `{document}` is a compact JWS (ES256, by the host key) with this payload. */
export const AgentRelease = v.object({
  version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/)),
  /** Of the file at GET /api/v1/agent/bundle.mjs. */
  digest: Digest,
  size_bytes: whole(1, 20 * 1024 * 1024),
  iat: v.number(),
  /** The one newer version that this one may replace. Without it a release never replaces a newer one. */
  downgrade_from: v.optional(v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/))),
});
export type AgentRelease = v.InferOutput<typeof AgentRelease>;
