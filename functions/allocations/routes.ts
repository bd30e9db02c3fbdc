import type { Table } from '../platform/route.ts';

export const allocationsRoutes = {
  'GET /api/v1/skus': ['listSkus', 'signed_in'],
  'PUT /api/v1/admin/skus/{sku}': ['putSku', 'platform.sku.write'],
  'GET /api/v1/admin/skus/{sku}': ['getSku', 'platform.sku.read'],
  'DELETE /api/v1/admin/skus/{sku}': ['removeSku', 'platform.sku.write'],

  'POST /api/v1/projects/{project_id}/allocations': ['requestAllocation', 'allocation.create'],
  'GET /api/v1/projects/{project_id}/allocations': ['listAllocations', 'allocation.read'],
  'GET /api/v1/projects/{project_id}/allocations/{allocation_id}': ['getAllocation', 'allocation.read'],
  'POST /api/v1/projects/{project_id}/allocations/{allocation_id}/release': [
    'releaseAllocation',
    'allocation.release',
  ],
  'GET /api/v1/admin/allocations': ['listOpenAllocations', 'platform.node.read'],
  'POST /api/v1/admin/allocations/{allocation_id}/write-off': ['writeOffAllocation', 'allocation.write_off'],

  'GET /api/v1/projects/{project_id}/placement/explain': ['explainPlacement', 'allocation.read'],
  'GET /api/v1/admin/placement/explain': ['explainPlacementByHost', 'platform.node.read'],

  'POST /api/v1/projects/{project_id}/volumes': ['createVolume', 'allocation.create'],
  'GET /api/v1/projects/{project_id}/volumes': ['listVolumes', 'allocation.read'],
  'GET /api/v1/projects/{project_id}/volumes/{volume_id}': ['getVolume', 'allocation.read'],
  'DELETE /api/v1/projects/{project_id}/volumes/{volume_id}': ['deleteVolume', 'allocation.release'],
} as const satisfies Table;
