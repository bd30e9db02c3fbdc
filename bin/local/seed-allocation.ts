import type { DemoApi } from './demo-api.ts';

/** Small enough for any machine that runs the platform. */
const SKU = 'cpu-small';
const PAGES_MAX = 20;
const SHAPE = {
  description: 'One processor without a GPU, for trying things out.',
  capacity_shape: 'gpu_slice',
  accelerator: 'cpu',
  gpu_count: 0,
  vcpu: 1,
  memory_mib: 512,
  disk_gib: 1,
  price_micros_per_hour: '20000',
  currency: 'USD',
};

export interface AllocationOptions {
  admin: DemoApi;
  owner: DemoApi;
  projectId: string;
  nodeId: string;
  say: (part: string, message: string) => void;
  stop?: AbortSignal;
}

export interface SeededAllocation {
  sku: string;
  allocation_id: string;
}

interface Allocation {
  id: string;
  sku: string;
  node_id: string;
  status: string;
}

interface AllocationPage {
  items: Allocation[];
  next_cursor: string | null;
}

/** Capacity that the demo project holds on this machine, at a price. One that was released is asked for anew. */
export async function seedAllocation(options: AllocationOptions): Promise<SeededAllocation | undefined> {
  const { admin, owner, projectId, nodeId, say, stop } = options;
  const path = `/api/v1/projects/${projectId}/allocations`;
  try {
    if (!(await admin.find(`/api/v1/admin/skus/${SKU}`)))
      await admin.send('PUT', `/api/v1/admin/skus/${SKU}`, SHAPE);
    const held = await findHeld(owner, path, nodeId);
    const { id } = held ?? (await owner.send<Allocation>('POST', path, { sku: SKU }));
    return { sku: SKU, allocation_id: id };
  } catch (error) {
    if (stop?.aborted) throw error;
    say('demo', `the project holds no allocation; the next start tries again. ${(error as Error).message}`);
    return undefined;
  }
}

/** Those that were released are listed too, and there may be many. */
async function findHeld(owner: DemoApi, path: string, nodeId: string): Promise<Allocation | undefined> {
  let next = `${path}?limit=100`;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next_cursor } = await owner.send<AllocationPage>('GET', next);
    const held = items.find(
      (item) => item.sku === SKU && item.node_id === nodeId && item.status === 'active',
    );
    if (held || next_cursor === null) return held;
    next = `${path}?limit=100&cursor=${encodeURIComponent(next_cursor)}`;
  }
  return undefined;
}
