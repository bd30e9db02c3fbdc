import { type Problems, refusing } from '../platform/errors.ts';
import { promotionProblems } from '../promotion/problems.ts';

export const catalogProblems = {
  'app.unknown': { status: 404, retryable: false, title: 'No such app' },
  'app.slug_taken': { status: 409, retryable: false, title: 'The slug belongs to another project' },
  'app.backend_fixed': { status: 409, retryable: false, title: 'An app keeps its runtime backend' },
  'app.too_many': { status: 409, retryable: false, title: 'The catalogue is full' },
  'app.too_many_versions': { status: 409, retryable: false, title: 'The app has too many versions' },
  'manifest.invalid': { status: 400, retryable: false, title: 'The manifest is not valid' },
  'manifest.malformed': { status: 400, retryable: false, title: 'The manifest is neither JSON nor YAML' },
  'version.unknown': { status: 404, retryable: false, title: 'No such version' },
  'version.exists': { status: 409, retryable: false, title: 'The version exists and has left draft' },
  'version.wrong_status': {
    status: 409,
    retryable: false,
    title: 'The status of the version does not allow this',
  },
  'version.in_use': { status: 409, retryable: false, title: 'Instances still use the version' },
  'version.artifacts_unready': {
    status: 409,
    retryable: false,
    title: 'The version would outrank its artifacts',
  },
  'entitlement.unknown': { status: 404, retryable: false, title: 'Nobody here has decided about the app' },
  'entitlement.wider_than_org': {
    status: 409,
    retryable: false,
    title: 'The organisation allows less than this',
  },
  'entitlement.too_many': { status: 409, retryable: false, title: 'Too many apps have entitlements here' },
} as const satisfies Problems;

export const refuse = refusing({ ...promotionProblems, ...catalogProblems });
