import { type Problems, refusing } from '../platform/errors.ts';

export const promotionProblems = {
  'promotion.unknown': { status: 404, retryable: false, title: 'It was never promoted' },
  'promotion.in_progress': {
    status: 409,
    retryable: false,
    title: 'A promotion of it is under way',
  },
  'promotion.not_waiting': { status: 409, retryable: false, title: 'No promotion waits for this answer' },
} as const satisfies Problems;

export const refuse = refusing({ ...promotionProblems });
