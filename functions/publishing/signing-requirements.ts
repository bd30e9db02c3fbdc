import { hash } from 'node:crypto';
import { pemBytes } from '../trust/certificate.ts';
import { policyFor } from '../trust/trust.ts';
import type { Trust, TrustPolicy } from '../trust/trust-policy.ts';
import type { SigningRequirements } from './intent.ts';

/** What the policy that covers a repository asks of a signature, in the words of a publish intent. */
export function signingRequirementsOf(repository: string, { policies }: Trust): SigningRequirements {
  const policy = policyFor(repository, policies);
  return {
    signature_required: true,
    signature_scheme: 'notation-jws',
    signing_key_id: policy ? rootOf(policy) : null,
    trust_policy: policy?.name ?? null,
    accepted_identities: policy?.identities ?? [],
    provenance_required: policy?.provenance.required ?? false,
  };
}

function rootOf({ roots }: TrustPolicy): string | null {
  const bytes = roots[0] === undefined ? undefined : pemBytes(roots[0], 'CERTIFICATE');
  return bytes ? hash('sha256', bytes) : null;
}
