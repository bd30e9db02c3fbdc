import { type Problems, refusing } from '../platform/errors.ts';

export const storageProblems = {
  'registry.unavailable': {
    status: 503,
    retryable: true,
    title: 'The registry did not answer as expected',
  },
  'store.unavailable': {
    status: 503,
    retryable: true,
    title: 'The object store did not answer as expected',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...storageProblems });
