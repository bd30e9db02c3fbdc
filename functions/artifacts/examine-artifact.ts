import type { Artifact } from './artifact.ts';
import { findFileEvidence } from '../content/file-evidence.ts';
import { findImageEvidence } from '../content/image-evidence.ts';
import { logIn } from '../storage/own-registry-login.ts';
import { judgeTrust } from '../trust/trust.ts';
import type { Trust } from '../trust/trust-policy.ts';
import type { Verification } from '../trust/verification.ts';

/** Reads an artifact's signatures and provenance and gives a verdict. Refuses if the store does not answer. */
export async function examineArtifact(artifact: Artifact, trust: Trust, now: Date): Promise<Verification> {
  const { repository, media_type, digest, size_bytes, source_type } = artifact;
  const evidence =
    source_type === 'oci_registry'
      ? await findImageEvidence(artifact, await logIn())
      : await findFileEvidence(artifact);
  const descriptor = { mediaType: media_type, digest, size: size_bytes };
  return judgeTrust({ descriptor, repository, evidence, trust, now });
}
