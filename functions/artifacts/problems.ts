import { type Problems, refusing } from '../platform/errors.ts';
import { catalogProblems } from '../catalog/problems.ts';
import { promotionProblems } from '../promotion/problems.ts';
import { storageProblems } from '../storage/problems.ts';
import { trustProblems } from '../trust/problems.ts';

export const artifactsProblems = {
  'artifact.unknown': { status: 404, retryable: false, title: 'No such artifact' },
  'artifact.exists': { status: 409, retryable: false, title: 'The artifact is registered already' },
  'artifact.foreign_source': {
    status: 422,
    retryable: false,
    title: 'The artifact does not lie where this project publishes the app',
  },
  'artifact.absent': { status: 422, retryable: false, title: 'Nothing with this digest is there' },
  'artifact.mismatched': { status: 422, retryable: false, title: 'What is there is something else' },
  'artifact.unfit': { status: 422, retryable: false, title: 'The platform does not run what is there' },
  'artifact.untrusted': { status: 422, retryable: false, title: 'The artifact could not be verified' },
  'artifact.revoked': { status: 409, retryable: false, title: 'The artifact was revoked' },
  'artifact.wrong_state': {
    status: 409,
    retryable: false,
    title: 'The state of the artifact does not allow this',
  },
  'artifact.in_use': { status: 409, retryable: false, title: 'A version or an instance uses the artifact' },
  'artifact.collected': { status: 409, retryable: true, title: 'What is there is being removed' },
  'artifact.too_many': { status: 409, retryable: false, title: 'Too many artifacts are the same' },
} as const satisfies Problems;

export const refuse = refusing({
  ...catalogProblems,
  ...promotionProblems,
  ...storageProblems,
  ...trustProblems,
  ...artifactsProblems,
});
