import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { AllocationParams, Allocation } from './allocation.ts';
import { findAllocation } from './allocation-store.ts';

export const getAllocation = query(
  {
    summary: 'Get an allocation: where it is, what it holds, and what is left on it while it is released',
    params: AllocationParams,
    reply: Allocation,
    refusals: ['allocation.unknown'],
  },
  (ctx, { params }) => findAllocation(projectOf(ctx).id, params.allocation_id),
);
