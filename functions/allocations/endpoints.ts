import { createVolume } from './create-volume.ts';
import { deleteVolume } from './delete-volume.ts';
import { explainPlacementByHost } from './explain-placement-by-host.ts';
import { explainPlacement } from './explain-placement.ts';
import { getAllocation } from './get-allocation.ts';
import { getSku } from './get-sku.ts';
import { getVolume } from './get-volume.ts';
import { listAllocations } from './list-allocations.ts';
import { listOpenAllocations } from './list-open-allocations.ts';
import { listSkus } from './list-skus.ts';
import { listVolumes } from './list-volumes.ts';
import { putSku } from './put-sku.ts';
import { releaseAllocation } from './release-allocation.ts';
import { removeSku } from './remove-sku.ts';
import { requestAllocation } from './request-allocation.ts';
import { writeOffAllocation } from './write-off-allocation.ts';

/** Every handler of the domain, by the name its routes call it. */
export const allocationsEndpoints = {
  createVolume,
  deleteVolume,
  explainPlacement,
  explainPlacementByHost,
  getAllocation,
  getSku,
  getVolume,
  listAllocations,
  listOpenAllocations,
  listSkus,
  listVolumes,
  putSku,
  releaseAllocation,
  removeSku,
  requestAllocation,
  writeOffAllocation,
};
