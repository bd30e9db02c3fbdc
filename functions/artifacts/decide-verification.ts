import type { Decision } from '../platform/data/change.ts';
import { type Artifact, subjectOfArtifact } from './artifact.ts';
import type { Bound } from './artifact-binding.ts';
import { saveArtifact } from './save-artifact.ts';
import { auditTrust, judged, TrustJudged } from './artifact-trust.ts';
import { saveTrust } from './find-bound-version.ts';
import type { Verification } from '../trust/verification.ts';

/** What a verification changes, whoever asked for it: the artifact's trust, and the note in its app's row. */
export function decideVerification(
  artifact: Artifact,
  bound: Bound,
  verification: Verification,
  now: Date,
): Decision {
  const after = judged(artifact, verification, now);
  return {
    subject: subjectOfArtifact(artifact),
    before: auditTrust(artifact),
    after: auditTrust(after),
    place: { org_id: artifact.org_id, project_id: artifact.project_id },
    writes: [...saveArtifact(artifact, after), ...saveTrust([{ artifact: after, bound }], now)],
    events: [TrustJudged(after)],
  };
}
