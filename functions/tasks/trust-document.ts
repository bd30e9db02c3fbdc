// What a host judges images by: no more of the platform's trust than the images assigned to it need.

import { epochSeconds } from '../platform/clock.ts';
import type { NodeId } from '../platform/ids.ts';
import type { RevokedCertificate } from '../trust/revoked-certificate.ts';
import { policyFor } from '../trust/trust.ts';
import type { TrustPolicy } from '../trust/trust-policy.ts';
import type { TrustDocument } from './agent-api.ts';
import type { AssignedImage } from './workload.ts';

/** A host that cannot renew it starts nothing new after that. */
const VALID_SECONDS = 3600;

export interface TrustSources {
  node_id: NodeId;
  trust: { revision: number; policies: TrustPolicy[]; revoked: RevokedCertificate[] };
  images: (AssignedImage & { isRevoked: boolean })[];
  allowRootWithoutRemap: boolean;
}

export function planTrustDocument(
  { node_id, trust, images, allowRootWithoutRemap }: TrustSources,
  now: Date,
): TrustDocument {
  const iat = epochSeconds(now);
  const counting = new Set(images.map(({ repository }) => policyFor(repository, trust.policies)));
  return {
    node_id,
    revision: trust.revision,
    iat,
    exp: iat + VALID_SECONDS,
    policies: trust.policies.filter((policy) => counting.has(policy)),
    revoked_certificates: trust.revoked,
    assigned: images.map(({ repository, digest, isRevoked }) => ({
      repository,
      digest,
      status: isRevoked ? 'revoked' : 'approved',
    })),
    allow_root_without_remap: allowRootWithoutRemap,
  };
}
