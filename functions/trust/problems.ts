import { type Problems, refusing } from '../platform/errors.ts';

export const trustProblems = {
  'trust_policy.unknown': { status: 404, retryable: false, title: 'The trust policy was not found' },
  'trust_policy.pattern_taken': {
    status: 409,
    retryable: false,
    title: 'Another trust policy has this pattern',
  },
  'trust_policy.too_many': { status: 409, retryable: false, title: 'There are too many trust policies' },
  'certificate.unknown': { status: 404, retryable: false, title: 'The certificate is not revoked' },
  'certificate.too_many': { status: 409, retryable: false, title: 'Too many certificates are revoked' },
} as const satisfies Problems;

export const refuse = refusing({ ...trustProblems });
