import { type Problems, refusing } from '../platform/errors.ts';

export const selftestProblems = {
  'selftest.unknown': { status: 404, retryable: false, title: 'No such self-test' },
  'selftest.denied': { status: 500, retryable: false, title: 'The platform lacks a permission of its own' },
} as const satisfies Problems;

export const refuse = refusing({ ...selftestProblems });
