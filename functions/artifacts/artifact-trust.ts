// Whether an artifact is trusted, apart from how far it has come: `unverified → verified → revoked`, and back to
// unverified when a later look fails.

import * as v from 'valibot';
import { type Refusal } from '../platform/errors.ts';
import { type DomainEvent, event } from '../platform/events.ts';
import { aboutArtifact, type Artifact, ArtifactTold } from './artifact.ts';
import { Verification } from '../trust/verification.ts';
import { refuse } from './problems.ts';

export function requireNotRevoked({ trust_state, revoked }: Artifact): void {
  if (trust_state !== 'revoked') return;
  throw refuse('artifact.revoked', {
    detail: revoked && `The artifact was revoked at ${revoked.at}: ${revoked.reason}`,
  });
}

/** Only an artifact that is trusted now may be promoted. */
export function requireTrusted(artifact: Artifact): void {
  requireNotRevoked(artifact);
  if (artifact.trust_state !== 'verified') throw untrusted(artifact.verification?.fault);
}

export function untrusted(fault: { code: string; detail: string } | undefined): Refusal {
  return refuse('artifact.untrusted', {
    detail: fault ? `${fault.code}: ${fault.detail}` : 'The artifact has not been verified.',
  });
}

/** After a look at its signature. */
export function judged(artifact: Artifact, verification: Verification, now: Date): Artifact {
  requireNotRevoked(artifact);
  return {
    ...artifact,
    verification,
    trust_state: verification.verdict === 'verified' ? 'verified' : 'unverified',
    updated_at: now.toISOString(),
  };
}

/** As the audit tells it. */
export function auditTrust({ trust_state, verification }: Artifact) {
  const { policy, signer, fault } = verification ?? {};
  return {
    trust_state,
    ...(policy && { policy }),
    ...(signer && { signer: signer.subject }),
    ...(fault && { fault }),
  };
}

const Told = v.object({ ...ArtifactTold.entries, fault: Verification.entries.fault });

export const ArtifactVerified = event('apps.artifact.verified', 1, Told);
export const ArtifactVerificationFailed = event('apps.artifact.verification_failed', 1, Told);

export function TrustJudged(artifact: Artifact): DomainEvent {
  const { verdict, fault } = artifact.verification ?? {};
  const told = { ...aboutArtifact(artifact), ...(fault && { fault }) };
  return verdict === 'verified' ? ArtifactVerified(told) : ArtifactVerificationFailed(told);
}
