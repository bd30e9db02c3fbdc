import * as v from 'valibot';
import { hold } from '../nodes/capacity.ts';
import { holdCapacity } from '../nodes/hold-capacity.ts';
import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { type AllocationId, ProjectId } from '../platform/ids.ts';
import {
  aboutAllocation,
  AllocationActive,
  AllocationRequested,
  Allocation,
  pathOfAllocation,
  planAllocation,
  RequestAllocation,
  subjectOfAllocation,
} from './allocation.ts';
import { insertAllocation } from './allocation-store.ts';
import { findRoom } from './find-room.ts';
import { refuse } from './problems.ts';

export const requestAllocation = command(
  {
    summary: 'Request an allocation: it is placed on a host and active at once, or refused with the reasons',
    action: 'allocations.allocation.request',
    params: v.object({ project_id: ProjectId }),
    body: RequestAllocation,
    reply: Allocation,
    status: 201,
    refusals: ['project.archived', 'sku.unknown', 'sku.retired', 'volume.unknown', 'allocation.no_capacity'],
  },
  async (ctx, { body }) => {
    const project = projectOf(ctx);
    if (project.status === 'archived') throw refuse('project.archived');
    const id = ctx.newId<AllocationId>();
    const { place, hold: taken, sku } = await findRoom(body, { allocation_id: id, project_id: project.id });
    const by = { project, actor: nameActor(ctx.actor) };
    const allocation = planAllocation(
      { id, name: body.name },
      sku,
      { node_id: place.node.id, hold: taken },
      by,
      ctx.now(),
    );
    return {
      subject: subjectOfAllocation(allocation),
      after: aboutAllocation(allocation),
      // Somebody may take the same at the same moment: then it is decided again, by what is left.
      writes: [...insertAllocation(allocation), ...holdCapacity(place, hold(place.capacity, taken))],
      events: [AllocationRequested(allocation), AllocationActive(allocation)],
      reply: { ...allocation },
      location: pathOfAllocation(allocation),
    };
  },
);
