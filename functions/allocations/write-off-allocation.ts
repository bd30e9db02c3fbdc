import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { AllocationId } from '../platform/ids.ts';
import {
  aboutAllocation,
  Allocation,
  AllocationWrittenOff,
  subjectOfAllocation,
  WriteOff,
  writeOff,
} from './allocation.ts';
import { findAnyAllocation, saveAllocation } from './allocation-store.ts';
import { freeCapacity } from './free-capacity.ts';
import { refuse } from './problems.ts';

export const writeOffAllocation = command(
  {
    summary:
      'Write off an allocation whose host is lost: its capacity is free without proof of what ran there',
    action: 'allocations.allocation.write_off',
    params: v.object({ allocation_id: AllocationId }),
    body: WriteOff,
    reply: Allocation,
    refusals: ['allocation.unknown', 'allocation.host_not_lost'],
  },
  async (ctx, { params, body: { reason } }) => {
    const before = await findAnyAllocation(params.allocation_id);
    if (!before) throw refuse('allocation.unknown');
    const after = writeOff(before, { by: nameActor(ctx.actor), reason }, ctx.now());
    const freed = after && (await freeCapacity(before));
    return {
      subject: subjectOfAllocation(before),
      before: aboutAllocation(before),
      after: aboutAllocation(after ?? before),
      reason,
      place: { org_id: before.org_id, project_id: before.project_id },
      writes: after && freed ? [...saveAllocation(before, after), ...freed.writes] : [],
      events: after && freed ? [AllocationWrittenOff(after), ...freed.events] : [],
      reply: { ...(after ?? before) },
    };
  },
);
