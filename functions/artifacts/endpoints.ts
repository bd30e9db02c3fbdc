import { deprecateArtifact } from './deprecate-artifact.ts';
import { dryRunRevocation } from './dry-run-revocation.ts';
import { getArtifactPromotion } from './get-artifact-promotion.ts';
import { getArtifact } from './get-artifact.ts';
import { getTrustPolicy } from './get-trust-policy.ts';
import { getUsage } from './get-usage.ts';
import { listArtifacts } from './list-artifacts.ts';
import { listRevokedCertificates } from './list-revoked-certificates.ts';
import { listTrustPolicies } from './list-trust-policies.ts';
import { promoteArtifact } from './promote-artifact.ts';
import { putTrustPolicy } from './put-trust-policy.ts';
import { registerArtifact } from './register-artifact.ts';
import { removeTrustPolicy } from './remove-trust-policy.ts';
import { restoreCertificate } from './restore-certificate.ts';
import { retireArtifact } from './retire-artifact.ts';
import { revokeArtifact } from './revoke-artifact.ts';
import { revokeCertificate } from './revoke-certificate.ts';
import { rollBackArtifact } from './roll-back-artifact.ts';
import { verifyArtifact } from './verify-artifact.ts';

/** Every handler of the domain, by the name its routes call it. */
export const artifactsEndpoints = {
  getArtifact,
  getTrustPolicy,
  listArtifacts,
  listRevokedCertificates,
  listTrustPolicies,
  putTrustPolicy,
  registerArtifact,
  removeTrustPolicy,
  restoreCertificate,
  revokeCertificate,
  verifyArtifact,
  promoteArtifact,
  getArtifactPromotion,
  rollBackArtifact,
  deprecateArtifact,
  retireArtifact,
  revokeArtifact,
  dryRunRevocation,
  getUsage,
};
