import { type Problems, refusing } from '../platform/errors.ts';

export const promotionProblems = {
  'promotion.unknown': { status: 404, retryable: false, title: 'The version or artifact has no promotion' },
  'promotion.in_progress': {
    status: 409,
    retryable: false,
    title: 'A promotion is already in progress',
  },
  'promotion.not_waiting': {
    status: 409,
    retryable: false,
    title: 'No promotion is waiting for this answer',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...promotionProblems });
