// What a host and the platform say to each other of what the host is to run, beside tasks; functions/nodes/agent-api.ts has
// what they say of the host itself. Platform and agent import this one file; it is pure. All paths begin with
// /api/v1/nodes/{node_id}.

import * as v from 'valibot';
import { type AllocationId, branded, NodeId, type ProjectId, WorkloadId } from '../platform/ids.ts';
import { Digest, OneTimeToken, Time } from '../platform/name.ts';
import { RevokedCertificate } from '../trust/revoked-certificate.ts';
import { TrustPolicy } from '../trust/trust-policy.ts';
import { ContainerStatus, RepositoryName } from './task.ts';

const Id = v.pipe(v.string(), v.uuid());
const text = (max: number) => v.pipe(v.string(), v.maxLength(max));
const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

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
