import { type Problems, refusing } from '../platform/errors.ts';

export const storageProblems = {
  'registry.unavailable': {
    status: 503,
    retryable: true,
    title: 'The registry does not answer as it should',
  },
  'store.unavailable': {
    status: 503,
    retryable: true,
    title: 'The object store does not answer as it should',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...storageProblems });
