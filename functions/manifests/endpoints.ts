import { approveSubmission } from './approve-submission.ts';
import { diffVersions } from './diff-versions.ts';
import { getProjectSubmission } from './get-project-submission.ts';
import { getSubmission } from './get-submission.ts';
import { listProjectSubmissions } from './list-project-submissions.ts';
import { listSubmissions } from './list-submissions.ts';
import { registerManifest } from './register-manifest.ts';
import { rejectSubmission } from './reject-submission.ts';
import { requestChanges } from './request-changes.ts';
import { reviseSubmission } from './revise-submission.ts';
import { submitManifest } from './submit-manifest.ts';
import { validateProjectManifest } from './validate-project-manifest.ts';
import { validateManifest } from './validate-manifest.ts';
import { withdrawSubmission } from './withdraw-submission.ts';

/** Every handler of the domain, by the name its routes call it. */
export const manifestsEndpoints = {
  registerManifest,
  validateManifest,
  validateProjectManifest,
  submitManifest,
  listProjectSubmissions,
  getProjectSubmission,
  reviseSubmission,
  withdrawSubmission,
  listSubmissions,
  getSubmission,
  approveSubmission,
  rejectSubmission,
  requestChanges,
  diffVersions,
};
