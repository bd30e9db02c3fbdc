import { type Problems, refusing } from '../platform/errors.ts';

export const selftestProblems = {
  'selftest.unknown': { status: 404, retryable: false, title: 'The self-test was not found' },
  'selftest.denied': {
    status: 500,
    retryable: false,
    title: 'The platform is missing a permission it needs',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...selftestProblems });
