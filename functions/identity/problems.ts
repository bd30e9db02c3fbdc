import { type Problems, refusing } from '../platform/errors.ts';

export const identityProblems = {
  'org.slug_taken': { status: 409, retryable: false, title: 'Another organisation has this slug' },
  'project.slug_taken': { status: 409, retryable: false, title: 'Another project has this slug' },
  'project.in_use': { status: 409, retryable: false, title: 'The project still has running resources' },
  'member.unknown': { status: 404, retryable: false, title: 'The member was not found' },
  'member.last_admin': {
    status: 409,
    retryable: false,
    title: 'An organisation must keep at least one administrator',
  },
  'member.too_many_grants': {
    status: 409,
    retryable: false,
    title: 'This person already has too many roles',
  },
  'invitation.unknown': {
    status: 404,
    retryable: false,
    title: 'The invitation is unknown, used or expired',
  },
  'invitation.other_email': {
    status: 403,
    retryable: false,
    title: 'The invitation is for another e-mail address',
  },
  'invitation.email_unverified': {
    status: 403,
    retryable: false,
    title: 'Your e-mail address is not verified',
  },
  'invitation.email_unknown': {
    status: 403,
    retryable: false,
    title: 'Your e-mail address is not known',
  },
  'permission.not_held': {
    status: 403,
    retryable: false,
    title: 'Nobody can give permissions they do not hold themselves',
  },
  'service_account.own': {
    status: 403,
    retryable: false,
    title: 'A service account cannot change itself',
  },
  'service_account.unknown': { status: 404, retryable: false, title: 'The service account was not found' },
  'service_account.slug_taken': {
    status: 409,
    retryable: false,
    title: 'Another service account has this slug',
  },
  'service_account.too_many_keys': {
    status: 409,
    retryable: false,
    title: 'The service account has too many active keys',
  },
  'signing_key.just_rotated': {
    status: 409,
    retryable: true,
    title: 'The signing key was rotated too recently',
  },
} as const satisfies Problems;

export const refuse = refusing({ ...identityProblems });
