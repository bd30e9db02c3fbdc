// What a host and the platform say to each other, beside tasks. Platform and agent import this one file; it is pure.
// All paths begin with /api/v1/nodes/{node_id}, but for the token's.

import * as v from 'valibot';
import { PublicJwk } from '../platform/auth/token-shape.ts';
import { type AllocationId, branded, NodeId, type ProjectId, WorkloadId } from '../platform/ids.ts';
import { Digest, OneTimeToken, Time } from '../platform/name.ts';
import { RevokedCertificate } from '../trust/revoked-certificate.ts';
import { TrustPolicy } from '../trust/trust-policy.ts';
import { Inventory } from './inventory.ts';
import { ContainerStatus, RepositoryName } from './task.ts';

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

/** POST …/pull-credentials: for repositories of workloads that are assigned to this node, and no others. */
export const AskPullCredentials = v.strictObject({
  repositories: v.pipe(v.array(RepositoryName), v.minLength(1), v.maxLength(10)),
});
export const PullCredentials = v.object({
  registry_host: v.string(),
  username: v.string(),
  password: v.string(),
  expires_at: Time,
});
export type PullCredentials = v.InferOutput<typeof PullCredentials>;

/** GET …/trust: `{document}` is a compact JWS (ES256, by the host key) with this payload. */
export const TrustDocument = v.object({
  node_id: NodeId,
  /** The number that verdicts are cached by: it rises with every change of trust, revocations of digests too. */
  revision: whole(0, Number.MAX_SAFE_INTEGER),
  iat: v.number(),
  exp: v.number(),
  policies: v.array(TrustPolicy),
  revoked_certificates: v.array(RevokedCertificate),
  /** Every image assigned to this node. What is not in here does not start. */
  assigned: v.array(
    v.object({
      repository: RepositoryName,
      digest: Digest,
      status: v.picklist(['approved', 'revoked']),
    }),
  ),
  /** Whether images that must run as root may do so on a host whose engine does not remap users. */
  allow_root_without_remap: v.boolean(),
});
export type TrustDocument = v.InferOutput<typeof TrustDocument>;
export const TrustReply = v.object({ document: v.string() });

/**
 * POST …/secrets: the value behind a handle, once. `fetch_id` is the agent's own, written to its journal before it asks:
 * an answer that was lost is given again to the same fetch, and to no other.
 */
export const FetchSecret = v.strictObject({ handle: OneTimeToken, fetch_id: Id });
/** Base64. */
export const SecretValue = v.object({ value: text(64 * 1024) });

/** GET …/workloads?limit=&cursor=: what the platform believes this host has been asked to hold. */
export const AssignedWorkload = v.object({
  workload_id: WorkloadId,
  allocation_id: branded<AllocationId>(Id),
  project_id: branded<ProjectId>(Id),
  /** present: a launch was asked for and no removal has a receipt yet. */
  desired: v.picklist(['present', 'absent']),
  /** The highest that was given out for it. */
  fence: whole(0, Number.MAX_SAFE_INTEGER),
});
export type AssignedWorkload = v.InferOutput<typeof AssignedWorkload>;
export const AssignedWorkloadPage = v.object({
  items: v.array(AssignedWorkload),
  next_cursor: v.nullable(v.string()),
});

/** POST …/workloads/{workload_id}/status: when the state of a container has changed by itself (health, exit, restart). */
export const WorkloadStatus = v.strictObject({
  fence: whole(1, Number.MAX_SAFE_INTEGER),
  at: Time,
  /** ready: all containers are. degraded: some are not, and are being restarted. failed: given up. */
  state: v.picklist(['ready', 'degraded', 'failed', 'stopped']),
  containers: v.pipe(v.array(ContainerStatus), v.maxLength(20)),
  detail: v.optional(text(2000)),
});
export type WorkloadStatus = v.InferOutput<typeof WorkloadStatus>;

// POST …/tasks/{task_id}/progress takes a TaskReport of status `running` (one write), POST …/tasks/{task_id}/outcome one
// that ends the task (task.ts).

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
