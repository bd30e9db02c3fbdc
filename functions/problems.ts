// Every problem of the platform on one page. No function uses this: each contains only the codes of its own domain.

import { allocationsProblems } from './allocations/problems.ts';
import { artifactsProblems } from './artifacts/problems.ts';
import { catalogProblems } from './catalog/problems.ts';
import { contentProblems } from './content/problems.ts';
import { eventsProblems } from './events/problems.ts';
import { identityProblems } from './identity/problems.ts';
import { manifestsProblems } from './manifests/problems.ts';
import { nodesProblems } from './nodes/problems.ts';
import { promotionProblems } from './promotion/problems.ts';
import { publishingProblems } from './publishing/problems.ts';
import { selftestProblems } from './selftest/problems.ts';
import { storageProblems } from './storage/problems.ts';
import { tasksProblems } from './tasks/problems.ts';
import { trustProblems } from './trust/problems.ts';
import { platformProblems } from './platform/errors.ts';

export const PROBLEMS = {
  ...platformProblems,
  ...allocationsProblems,
  ...artifactsProblems,
  ...catalogProblems,
  ...contentProblems,
  ...eventsProblems,
  ...identityProblems,
  ...manifestsProblems,
  ...nodesProblems,
  ...promotionProblems,
  ...publishingProblems,
  ...selftestProblems,
  ...storageProblems,
  ...tasksProblems,
  ...trustProblems,
};

export type ProblemCode = keyof typeof PROBLEMS;
