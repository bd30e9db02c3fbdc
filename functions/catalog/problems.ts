import { type Problems, refusing } from '../platform/errors.ts';
import { promotionProblems } from '../promotion/problems.ts';

export const catalogProblems = {
  'app.unknown': { status: 404, retryable: false, title: 'The app was not found' },
  'app.slug_taken': { status: 409, retryable: false, title: 'The slug belongs to another project' },
  'app.backend_fixed': {
    status: 409,
    retryable: false,
    title: 'The runtime backend of an app cannot be changed',
  },
  'app.too_many': { status: 409, retryable: false, title: 'The catalogue is full' },
  'app.too_many_versions': { status: 409, retryable: false, title: 'The app has too many versions' },
  'manifest.invalid': { status: 400, retryable: false, title: 'The manifest is not valid' },
  'manifest.malformed': { status: 400, retryable: false, title: 'The manifest is neither JSON nor YAML' },
  'version.unknown': { status: 404, retryable: false, title: 'The version was not found' },
  'version.exists': { status: 409, retryable: false, title: 'The version exists and is no longer a draft' },
  'version.wrong_status': {
    status: 409,
    retryable: false,
    title: 'The status of the version does not allow this',
  },
  'version.in_use': { status: 409, retryable: false, title: 'Instances still use the version' },
  'version.artifacts_unready': {
    status: 409,
    retryable: false,
    title: 'The artifacts of the version are not ready for this status',
  },
  'entitlement.unknown': { status: 404, retryable: false, title: 'There is no entitlement for this app' },
  'entitlement.wider_than_org': {
    status: 409,
    retryable: false,
    title: 'The entitlement exceeds what the organisation allows',
  },
  'entitlement.too_many': { status: 409, retryable: false, title: 'There are too many entitlements' },
} as const satisfies Problems;

export const refuse = refusing({ ...promotionProblems, ...catalogProblems });
