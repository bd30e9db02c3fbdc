import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import {
  aboutAllocation,
  AllocationParams,
  AllocationReleaseRequested,
  Allocation,
  askRelease,
  subjectOfAllocation,
} from './allocation.ts';
import { findAllocation, saveAllocation } from './allocation-store.ts';

export const releaseAllocation = command(
  {
    summary: 'Release an allocation: what runs on it is removed first, then its capacity is free',
    action: 'allocations.allocation.release',
    params: AllocationParams,
    reply: Allocation,
    status: 202,
    // A second one changes nothing.
    idempotency: 'optional',
    refusals: ['allocation.unknown'],
  },
  async (ctx, { params }) => {
    const before = await findAllocation(projectOf(ctx).id, params.allocation_id);
    const after = askRelease(before, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfAllocation(before),
      before: aboutAllocation(before),
      after: aboutAllocation(after ?? before),
      writes: after ? saveAllocation(before, after) : [],
      events: after ? [AllocationReleaseRequested(after)] : [],
      reply: { ...(after ?? before) },
    };
  },
);
