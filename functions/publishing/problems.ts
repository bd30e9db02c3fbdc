import { type Problems, refusing } from '../platform/errors.ts';
import { artifactsProblems } from '../artifacts/problems.ts';
import { catalogProblems } from '../catalog/problems.ts';
import { storageProblems } from '../storage/problems.ts';

export const publishingProblems = {
  'intent.unknown': { status: 404, retryable: false, title: 'The publish intent was not found' },
  'intent.expired': { status: 409, retryable: false, title: 'The publish intent has expired' },
  'intent.unwrapped': { status: 409, retryable: false, title: 'The credential has already been unwrapped' },
  'intent.wrong_token': { status: 403, retryable: false, title: 'The wrapping token is not valid' },
} as const satisfies Problems;

export const refuse = refusing({
  ...artifactsProblems,
  ...catalogProblems,
  ...storageProblems,
  ...publishingProblems,
});
