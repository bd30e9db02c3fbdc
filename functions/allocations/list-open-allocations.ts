import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { AllocationPage } from './allocation.ts';
import { findAllocations, listOpenRows } from './allocation-store.ts';

export const listOpenAllocations = query(
  {
    summary: 'List the allocations of all projects that are not released, oldest first',
    query: v.strictObject({
      ...PageQuery,
      node_id: v.optional(NodeId),
      status: v.optional(v.picklist(['active', 'releasing'])),
    }),
    reply: AllocationPage,
  },
  async (_, { query: { limit, cursor, ...filter } }) => {
    const { items, next_cursor } = await listOpenRows(filter, { limit, cursor });
    return { items: await findAllocations(items.map(({ allocation_id }) => allocation_id)), next_cursor };
  },
);
