import { type Problems, refusing } from '../platform/errors.ts';

export const identityProblems = {
  'org.slug_taken': { status: 409, retryable: false, title: 'Another organisation has this slug' },
  'project.slug_taken': { status: 409, retryable: false, title: 'Another project has this slug' },
  'project.in_use': { status: 409, retryable: false, title: 'Something still runs in the project' },
  'member.unknown': { status: 404, retryable: false, title: 'No such member' },
  'member.last_admin': { status: 409, retryable: false, title: 'The last administrator cannot go' },
  'member.too_many_grants': {
    status: 409,
    retryable: false,
    title: 'This person has too many roles already',
  },
  'invitation.unknown': {
    status: 404,
    retryable: false,
    title: 'The invitation is unknown, used or expired',
  },
  'invitation.other_email': {
    status: 403,
    retryable: false,
    title: 'The invitation is for another address',
  },
  'service_account.unknown': { status: 404, retryable: false, title: 'No such service account' },
  'service_account.slug_taken': {
    status: 409,
    retryable: false,
    title: 'Another service account has this slug',
  },
  'service_account.too_many_keys': {
    status: 409,
    retryable: false,
    title: 'Too many keys of this service account still work',
  },
  'signing_key.just_rotated': {
    status: 409,
    retryable: true,
    title: 'The signing key was rotated a moment ago',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...identityProblems });
