// Every event on one page, as data: its kind, who emits it, who reacts to it. The CDK app makes the queues of it and the
// AsyncAPI document is made of it. Functions do not import it: each would then carry the rules of all domains.

import {
  AllocationActive,
  AllocationHostLost,
  AllocationHostRecovered,
  AllocationReleased,
  AllocationReleaseRequested,
  AllocationRequested,
  AllocationWrittenOff,
} from './allocations/allocation.ts';
import { SkuChanged, SkuRemoved } from './allocations/sku.ts';
import { VolumeCreated, VolumeFailed, VolumeRemoved } from './allocations/volume.ts';
import { artifactTransitions } from './artifacts/artifact-transition.ts';
import { ArtifactVerificationFailed, ArtifactVerified } from './artifacts/artifact-trust.ts';
import { GarbageCollected } from './retention/garbage.ts';
import { ArtifactRegistered } from './artifacts/registration.ts';
import { ArtifactForgotten } from './artifacts/artifact-due.ts';
import { ArtifactRevoked } from './artifacts/revocation.ts';
import { CertificateRestored, CertificateRevoked } from './trust/revoked-certificate.ts';
import { TrustPolicyChanged, TrustPolicyRemoved } from './trust/trust-policy.ts';
import { EntitlementChanged } from './catalog/entitlement.ts';
import { ArtifactPromotionFailed, ArtifactPromotionRequested } from './artifacts/artifact-promotion.ts';
import {
  SmokeAnswered,
  SmokeRequested,
  VersionPromotionFailed,
  VersionPromotionRequested,
} from './catalog/version-promotion.ts';
import { PromotionPolicyChanged } from './promotion/promotion-policy.ts';
import { versionTransitions } from './catalog/transition.ts';
import { InvitationAccepted, InvitationCreated, InvitationRevoked } from './identity/invitation.ts';
import { MemberAdded, MemberRemoved, MemberRoleChanged } from './identity/member.ts';
import { OrgCreated, OrgRenamed } from './identity/org.ts';
import { ProjectArchived, ProjectCreated, ProjectRenamed, ProjectUnarchived } from './identity/project.ts';
import {
  ServiceAccountChanged,
  ServiceAccountCreated,
  ServiceAccountDeleted,
  ServiceAccountDisabled,
  ServiceAccountEnabled,
  ServiceAccountKeyRotated,
} from './identity/service-account.ts';
import { SigningKeyRotated } from './identity/signing-key.ts';
import { InstanceFailed, InstanceRunning, StopRequested } from './instances/instance-events.ts';
import { VersionRegistered } from './manifests/registration.ts';
import {
  SubmissionApproved,
  SubmissionChangesRequested,
  SubmissionRejected,
  SubmissionRevised,
  SubmissionSubmitted,
  SubmissionWithdrawn,
} from './manifests/submission.ts';
import {
  DrainRequested,
  JoinRefused,
  JoinTokenRenewed,
  NodeCordoned,
  NodeCreated,
  NodeDrained,
  NodeEnrolled,
  NodeInventoryChanged,
  NodeKeyCloned,
  NodeLost,
  NodeRecovered,
  NodeRemoved,
  NodeSuspect,
  NodeUncordoned,
} from './nodes/node-events.ts';
import { ForeignRequestRefused } from './platform/auth/foreign-request.ts';
import type { EventKind } from './platform/events.ts';
import { IntentCreated, IntentUnwrapped, UnwrapRefused } from './publishing/intent.ts';
import { SelftestEnded, SelftestRequested } from './selftest/selftest.ts';
import { PullRefused } from './tasks/pull.ts';
import { SecretRefused } from './tasks/secret.ts';
import { TaskEnded, TaskRequested } from './tasks/task-row.ts';
import { WorkloadChanged } from './tasks/workload.ts';

/** A domain with a function that reacts to events: functions/<reactor>/react-to-events.ts. */
export type Reactor = 'allocations' | 'artifacts' | 'catalog' | 'nodes' | 'selftest' | 'tasks';

export type Emitter =
  | 'allocations'
  | 'artifacts'
  | 'catalog'
  | 'identity'
  | 'instances'
  | 'manifests'
  | 'nodes'
  | 'publishing'
  | 'selftest'
  | 'tasks';

type Row = readonly [kind: EventKind, emitter: Emitter, reactors: readonly Reactor[]];

export const EVENTS = [
  [SkuChanged, 'allocations', []],
  [SkuRemoved, 'allocations', []],
  [AllocationRequested, 'allocations', []],
  [AllocationActive, 'allocations', []],
  [AllocationReleaseRequested, 'allocations', ['allocations']],
  [AllocationReleased, 'allocations', []],
  [AllocationWrittenOff, 'allocations', ['allocations']],
  [AllocationHostLost, 'allocations', []],
  [AllocationHostRecovered, 'allocations', []],
  [VolumeCreated, 'allocations', []],
  [VolumeFailed, 'allocations', []],
  [VolumeRemoved, 'allocations', []],

  [ArtifactRegistered, 'artifacts', []],
  [ArtifactVerified, 'artifacts', []],
  [ArtifactVerificationFailed, 'artifacts', []],
  [ArtifactPromotionRequested, 'artifacts', ['artifacts']],
  [ArtifactPromotionFailed, 'artifacts', []],
  [artifactTransitions.staged, 'artifacts', []],
  [artifactTransitions.canary, 'artifacts', []],
  [artifactTransitions.active, 'artifacts', []],
  [artifactTransitions.back, 'artifacts', []],
  [artifactTransitions.deprecated, 'artifacts', []],
  [artifactTransitions.retired, 'artifacts', []],
  [ArtifactRevoked, 'artifacts', ['artifacts']],
  [ArtifactForgotten, 'artifacts', []],
  [GarbageCollected, 'artifacts', []],
  [TrustPolicyChanged, 'artifacts', []],
  [TrustPolicyRemoved, 'artifacts', []],
  [CertificateRevoked, 'artifacts', []],
  [CertificateRestored, 'artifacts', []],
  [StopRequested, 'artifacts', []],

  [VersionPromotionRequested, 'catalog', ['catalog']],
  [SmokeRequested, 'catalog', []],
  [SmokeAnswered, 'catalog', ['catalog']],
  [VersionPromotionFailed, 'catalog', []],
  [versionTransitions.staged, 'catalog', []],
  [versionTransitions.canary, 'catalog', []],
  [versionTransitions.active, 'catalog', []],
  [versionTransitions.back, 'catalog', []],
  [versionTransitions.deprecated, 'catalog', []],
  [versionTransitions.retired, 'catalog', []],
  [PromotionPolicyChanged, 'catalog', []],
  [EntitlementChanged, 'catalog', []],

  [OrgCreated, 'identity', []],
  [OrgRenamed, 'identity', []],
  [ProjectCreated, 'identity', []],
  [ProjectRenamed, 'identity', []],
  [ProjectArchived, 'identity', []],
  [ProjectUnarchived, 'identity', []],
  [MemberAdded, 'identity', []],
  [MemberRoleChanged, 'identity', []],
  [MemberRemoved, 'identity', []],
  [InvitationCreated, 'identity', []],
  [InvitationAccepted, 'identity', []],
  [InvitationRevoked, 'identity', []],
  [ServiceAccountCreated, 'identity', []],
  [ServiceAccountChanged, 'identity', []],
  [ServiceAccountDisabled, 'identity', []],
  [ServiceAccountEnabled, 'identity', []],
  [ServiceAccountKeyRotated, 'identity', []],
  [ServiceAccountDeleted, 'identity', []],
  [SigningKeyRotated, 'identity', []],

  [InstanceRunning, 'instances', ['catalog']],
  [InstanceFailed, 'instances', ['catalog']],

  [SubmissionSubmitted, 'manifests', []],
  [SubmissionRevised, 'manifests', []],
  [SubmissionChangesRequested, 'manifests', []],
  [SubmissionApproved, 'manifests', []],
  [SubmissionRejected, 'manifests', []],
  [SubmissionWithdrawn, 'manifests', []],
  [VersionRegistered, 'manifests', []],

  [NodeCreated, 'nodes', []],
  [JoinTokenRenewed, 'nodes', []],
  [NodeEnrolled, 'nodes', []],
  [JoinRefused, 'nodes', []],
  [NodeInventoryChanged, 'nodes', []],
  [NodeCordoned, 'nodes', []],
  [NodeUncordoned, 'nodes', []],
  [DrainRequested, 'nodes', ['allocations']],
  [NodeDrained, 'nodes', []],
  [NodeSuspect, 'nodes', []],
  [NodeLost, 'nodes', ['allocations']],
  [NodeRecovered, 'nodes', ['allocations']],
  [NodeKeyCloned, 'nodes', []],
  [ForeignRequestRefused, 'nodes', []],
  [NodeRemoved, 'nodes', ['allocations', 'nodes']],

  [IntentCreated, 'publishing', []],
  [IntentUnwrapped, 'publishing', []],
  [UnwrapRefused, 'publishing', []],

  [SelftestRequested, 'selftest', ['selftest']],
  [SelftestEnded, 'selftest', []],

  [TaskRequested, 'tasks', ['tasks']],
  [TaskEnded, 'tasks', ['allocations']],
  [WorkloadChanged, 'tasks', []],
  [PullRefused, 'tasks', []],
  [SecretRefused, 'tasks', []],
] as const satisfies readonly Row[];
