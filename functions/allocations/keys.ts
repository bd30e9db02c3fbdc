// Where SKUs, allocations and volumes are kept. Pure, because the CDK app reads it too: a function's role reaches these
// partitions and no others.

import type { Key } from '../platform/data/table.ts';
import type { AllocationId, ProjectId, VolumeId } from '../platform/ids.ts';

/** All SKUs: they are few, and one read. */
export const SKU_PARTITION = 'SKUS';
export const SKU_ROWS = 'SKU#';
export const skuKey = (sku: string): Key => ({ pk: SKU_PARTITION, sk: `${SKU_ROWS}${sku}` });

export const ALLOCATION_PARTITIONS = 'ALLOCATION#*';
export const allocationKey = (id: AllocationId): Key => ({ pk: `ALLOCATION#${id}`, sk: 'ALLOCATION' });
/** That it is not released yet; apart from it, as each row stands in one list. */
export const openAllocationKey = (id: AllocationId): Key => ({ pk: `ALLOCATION#${id}`, sk: 'OPEN' });

/** The allocations of a project, in gsi1, by age. */
export const projectAllocations = (id: ProjectId): string => `ALLOCATIONS#${id}`;
/** Those of all projects that are not released yet, in gsi1, by age. */
export const OPEN_ALLOCATIONS = 'ALLOCATIONS#OPEN';

export const VOLUME_PARTITIONS = 'VOLUME#*';
export const volumeKey = (id: VolumeId): Key => ({ pk: `VOLUME#${id}`, sk: 'VOLUME' });
/** That a host is asked to make or remove it; apart from it, as each row stands in one list. */
export const changingVolumeKey = (id: VolumeId): Key => ({ pk: `VOLUME#${id}`, sk: 'CHANGING' });

/** The volumes of a project, in gsi1, by age. */
export const projectVolumes = (id: ProjectId): string => `VOLUMES#${id}`;
/** Volumes that a host is asked to make or remove, in gsi1, by age. */
export const CHANGING_VOLUMES = 'VOLUMES#CHANGING';
