import { type Problems, refusing } from '../platform/errors.ts';
import { catalogProblems } from '../catalog/problems.ts';
import { promotionProblems } from '../promotion/problems.ts';

export const manifestsProblems = {
  'submission.unknown': { status: 404, retryable: false, title: 'No such submission' },
  'submission.own': { status: 403, retryable: false, title: 'Somebody else must review your submission' },
  'submission.decided': { status: 409, retryable: false, title: 'The submission has been decided' },
} as const satisfies Problems;

export const refuse = refusing({ ...catalogProblems, ...promotionProblems, ...manifestsProblems });
