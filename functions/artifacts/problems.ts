import { type Problems, refusing } from '../platform/errors.ts';
import { catalogProblems } from '../catalog/problems.ts';
import { contentProblems } from '../content/problems.ts';
import { promotionProblems } from '../promotion/problems.ts';
import { storageProblems } from '../storage/problems.ts';
import { trustProblems } from '../trust/problems.ts';

export const artifactsProblems = {
  'artifact.unknown': { status: 404, retryable: false, title: 'The artifact was not found' },
  'artifact.exists': { status: 409, retryable: false, title: 'The artifact is already registered' },
  'artifact.untrusted': { status: 422, retryable: false, title: 'The artifact could not be verified' },
  'artifact.revoked': { status: 409, retryable: false, title: 'The artifact was revoked' },
  'artifact.wrong_state': {
    status: 409,
    retryable: false,
    title: 'The state of the artifact does not allow this',
  },
  'artifact.in_use': { status: 409, retryable: false, title: 'A version or an instance uses the artifact' },
  'artifact.collected': {
    status: 409,
    retryable: true,
    title: 'Unused content is being removed from the repository',
  },
  'artifact.too_many': { status: 409, retryable: false, title: 'Too many artifacts have the same content' },
} as const satisfies Problems;

export const refuse = refusing({
  ...catalogProblems,
  ...contentProblems,
  ...promotionProblems,
  ...storageProblems,
  ...trustProblems,
  ...artifactsProblems,
});
