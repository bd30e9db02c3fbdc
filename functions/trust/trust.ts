// Whether an artifact is trusted: the policy of its repository, a signature that holds, and where it must,
// provenance. Whatever is missing, unreadable or unknown means no.

import { pemBytes } from './certificate.ts';
import { type Chain, requireTrusted, requireUnrevoked, requireUsage, requireValid } from './chain.ts';
import { formatName, hasName, parseName } from './distinguished-name.ts';
import { Distrust, distrust, oneOf } from './distrust.ts';
import {
  readChain,
  readEnvelope,
  readTimes,
  requireHeader,
  requireSignature,
  requireTarget,
} from './envelope.ts';
import { judgeProvenance } from './provenance.ts';
import { secondsAfter } from '../platform/clock.ts';
import type { Trust, TrustPolicy } from './trust-policy.ts';
import {
  type Attachment,
  type Descriptor,
  type Evidence,
  type Provenance,
  TRUST_FAULTS,
  type Verification,
} from './verification.ts';

/** Somebody who attaches a thousand signatures gets these many looked at. */
const ATTACHMENTS_MAX = 20;
/** Clocks of signers may be ahead of ours. */
const CLOCK_SKEW_SECONDS = 5 * 60;

export interface Question {
  descriptor: Descriptor;
  repository: string;
  evidence: Evidence;
  trust: Trust;
  now: Date;
}

type Signed = Required<Pick<Verification, 'signer' | 'signed_at' | 'valid_until'>>;

export function judgeTrust({ descriptor, repository, evidence, trust, now }: Question): Verification {
  const asked = { at: now.toISOString(), trust_revision: trust.revision };
  const policy = policyFor(repository, trust.policies);
  if (!policy) {
    const none = distrust('policy.none', `Expected a trust policy whose pattern covers ${repository}.`);
    return { verdict: 'refused', ...asked, fault: faultOf(none) };
  }
  const judged = { ...asked, policy: { name: policy.name, version: policy.version } };
  if (evidence.isContentAbsent) {
    const gone = distrust(
      'content.absent',
      `Expected ${descriptor.digest} to exist where it was registered.`,
    );
    return { verdict: 'refused', ...judged, fault: faultOf(gone) };
  }
  const revoked = new Set(trust.revoked.map(({ fingerprint }) => fingerprint));
  const signed = firstThatHolds(
    evidence.signatures,
    (signature) => judgeSignature(signature, descriptor, policy, revoked, now),
    distrust('signature.none', `Expected a signature attached to ${descriptor.digest}.`),
  );
  if (signed instanceof Distrust) return { verdict: 'refused', ...judged, fault: faultOf(signed) };
  const built = firstThatHolds<Provenance>(
    evidence.provenances,
    (statement) => judgeProvenance(statement, descriptor, policy.provenance),
    distrust('provenance.none', `Expected a statement of provenance attached to ${descriptor.digest}.`),
  );
  if (!(built instanceof Distrust)) return { verdict: 'verified', ...judged, ...signed, provenance: built };
  // If the policy requires no provenance, only a valid one is reported.
  if (!policy.provenance.required) return { verdict: 'verified', ...judged, ...signed };
  return { verdict: 'refused', ...judged, ...signed, fault: faultOf(built) };
}

/** The most specific pattern: the repository itself, then the longest path above it, then all. */
export function policyFor(repository: string, policies: TrustPolicy[]): TrustPolicy | undefined {
  return policies
    .filter(({ repository_pattern }) => covers(repository_pattern, repository))
    .toSorted((one, other) => weightOf(other.repository_pattern) - weightOf(one.repository_pattern))[0];
}

function covers(pattern: string, repository: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('/*') ? repository.startsWith(pattern.slice(0, -1)) : pattern === repository;
}

const weightOf = (pattern: string): number => (pattern.endsWith('*') ? pattern.length : Infinity);

/** The first that holds; otherwise the fault of the one that came furthest, as that is the one to mend. */
function firstThatHolds<T>(
  attachments: Attachment[],
  judge: (attachment: Attachment) => T,
  none: Distrust,
): T | Distrust {
  let furthest = none;
  for (const attachment of attachments.slice(0, ATTACHMENTS_MAX)) {
    try {
      return judge(attachment);
    } catch (error) {
      if (!(error instanceof Distrust)) throw error;
      if (orderOf(error) > orderOf(furthest)) furthest = error;
    }
  }
  return furthest;
}

const orderOf = ({ code }: Distrust): number => TRUST_FAULTS.indexOf(code);

function faultOf({ code, message }: Distrust): NonNullable<Verification['fault']> {
  return { code, detail: message };
}

/** In the order of TRUST_FAULTS, each rule only once all before it hold. */
function judgeSignature(
  attachment: Attachment,
  descriptor: Descriptor,
  policy: TrustPolicy,
  revoked: ReadonlySet<string>,
  now: Date,
): Signed {
  const envelope = readEnvelope(attachment);
  const chain = readChain(envelope);
  const [leaf] = chain;
  requireHeader(envelope, leaf.key);
  requireSignature(envelope, leaf.key);
  requireTrusted(chain, rootsOf(policy));
  requireUsage(chain);
  const { signedAt, expiresAt } = readTimes(envelope);
  if (signedAt > secondsAfter(now, CLOCK_SKEW_SECONDS))
    throw distrust('signature.time', 'Expected a signing time that is not in the future.');
  requireValid(chain, now, signedAt);
  if (expiresAt && expiresAt <= now)
    throw distrust('signature.expired', 'Expected a signature that has not expired.');
  requireUnrevoked(chain, revoked);
  requireTarget(envelope, descriptor);
  requireIdentity(chain, policy);
  const ends = [...chain.map(({ notAfter }) => notAfter), ...(expiresAt ? [expiresAt] : [])];
  return {
    signer: {
      subject: formatName(leaf.subject),
      issuer: formatName(leaf.issuer),
      serial_number: leaf.serialNumber,
      fingerprint: leaf.fingerprint,
      not_after: leaf.notAfter.toISOString(),
    },
    signed_at: signedAt.toISOString(),
    valid_until: new Date(Math.min(...ends.map(Number))).toISOString(),
  };
}

/** One that cannot be read any more is no root. */
const rootsOf = ({ roots }: TrustPolicy): Buffer[] =>
  roots.flatMap((pem) => pemBytes(pem, 'CERTIFICATE') ?? []);

function requireIdentity([leaf]: Chain, { identities }: TrustPolicy): void {
  const wanted = identities.flatMap((identity) => {
    const name = parseName(identity);
    return name ? [name] : [];
  });
  if (!wanted.some((name) => hasName(leaf.subject, name)))
    throw distrust(
      'identity.not_accepted',
      `Expected a signer whose subject has all parts of ${oneOf(identities)}.`,
    );
}
