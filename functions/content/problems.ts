import { type Problems, refusing } from '../platform/errors.ts';

export const contentProblems = {
  'artifact.foreign_source': {
    status: 422,
    retryable: false,
    title: 'The artifact is not where this project publishes the app',
  },
  'artifact.absent': { status: 422, retryable: false, title: 'No content with this digest was found' },
  'artifact.mismatched': {
    status: 422,
    retryable: false,
    title: 'The stored content does not match the request',
  },
  'artifact.unfit': {
    status: 422,
    retryable: false,
    title: 'The artifact has a format the platform cannot run',
  },
} as const satisfies Problems;

export const refuse = refusing(contentProblems);
