import { type Problems, refusing } from '../platform/errors.ts';

export const allocationsProblems = {
  'sku.unknown': { status: 404, retryable: false, title: 'The SKU was not found' },
  'sku.retired': { status: 409, retryable: false, title: 'The SKU is not offered any more' },
  'allocation.unknown': { status: 404, retryable: false, title: 'The allocation was not found' },
  /** Retryable, because somebody may release theirs, or a host may join. */
  'allocation.no_capacity': { status: 409, retryable: true, title: 'No host has room for this now' },
  'allocation.not_active': {
    status: 409,
    retryable: false,
    title: 'The allocation is being released or was released',
  },
  'allocation.host_not_lost': {
    status: 409,
    retryable: false,
    title: 'The host of the allocation answers; release the allocation instead',
  },
  'volume.unknown': { status: 404, retryable: false, title: 'The volume was not found' },
  'volume.no_space': { status: 409, retryable: true, title: 'The host has too little disk left' },
  'volume.in_use': { status: 409, retryable: false, title: 'Something that runs uses the volume' },
  'volume.not_ready': {
    status: 409,
    retryable: true,
    title: 'The host has not made the volume yet, or is removing it',
  },
} as const satisfies Problems;

export const refuse = refusing(allocationsProblems);
