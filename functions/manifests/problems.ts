import { type Problems, refusing } from '../platform/errors.ts';
import { catalogProblems } from '../catalog/problems.ts';
import { promotionProblems } from '../promotion/problems.ts';

export const manifestsProblems = {
  'submission.unknown': { status: 404, retryable: false, title: 'The submission was not found' },
  'submission.own': { status: 403, retryable: false, title: 'You cannot review your own submission' },
  'submission.decided': {
    status: 409,
    retryable: false,
    title: 'The status of the submission does not allow this',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...catalogProblems, ...promotionProblems, ...manifestsProblems });
