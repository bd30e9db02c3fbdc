// What can be asked for, and what an hour of it costs.

import * as v from 'valibot';
import { CAPACITY_SHAPES } from '../nodes/capacity.ts';
import { ACCELERATORS } from '../nodes/inventory.ts';
import { event } from '../platform/events.ts';
import type { InputFault } from '../platform/errors.ts';
import { branded, type Branded } from '../platform/ids.ts';
import { Description, Name, Slug, Time } from '../platform/name.ts';
import { refuse } from './problems.ts';

export type SkuName = Branded<'SkuName'>;
export const SkuName = branded<SkuName>(Slug);

const wholeNumber = (min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** Millionths of the currency, as text: a number of this size is not exact everywhere. */
export const Micros = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9]\d{0,17})$/, 'Micro-units as a whole number in digits'),
  v.examples(['2500000']),
);
export const Currency = v.pipe(
  v.string(),
  v.regex(/^[A-Z]{3}$/, 'A currency of ISO 4217'),
  v.examples(['USD']),
);

/** What an allocation takes of a node. A whole node is asked for by what it must have at least. */
export const Shape = {
  capacity_shape: v.picklist(CAPACITY_SHAPES),
  accelerator: v.picklist(ACCELERATORS),
  gpu_count: v.optional(wholeNumber(0, 64), 0),
  /** As the host's own tool names it, of a MIG part with its profile: `NVIDIA H100 80GB HBM3 1g.10gb`. Without it, any. */
  gpu_model: v.optional(v.pipe(Name, v.maxLength(140))),
  vcpu: wholeNumber(1, 4096),
  memory_mib: wholeNumber(1, 64 * 1024 * 1024),
  disk_gib: v.optional(wholeNumber(0, 16 * 1024 * 1024), 0),
};
const ShapeObject = v.object(Shape);
export type Shape = v.InferOutput<typeof ShapeObject>;

const SKU_STATUSES = ['active', 'retired'] as const;

export const PutSku = v.strictObject({
  description: v.optional(Description, ''),
  ...Shape,
  price_micros_per_hour: Micros,
  currency: v.optional(Currency, 'USD'),
  /** One that is retired is offered no more; what was allocated by it goes on at its price. */
  status: v.optional(v.picklist(SKU_STATUSES), 'active'),
});
export type PutSku = v.InferOutput<typeof PutSku>;

export const SkuParams = v.object({ sku: SkuName });

export const Sku = v.object({
  sku: SkuName,
  ...PutSku.entries,
  changed_by: v.string(),
  created_at: Time,
  updated_at: Time,
  version: v.number(),
});
export type Sku = v.InferOutput<typeof Sku>;

/** What everybody sees of it. */
export const SkuView = v.omit(Sku, ['changed_by']);
export const SkuPage = v.object({ items: v.array(SkuView), next_cursor: v.nullable(v.string()) });

export function viewSku(sku: Sku): v.InferOutput<typeof SkuView> {
  const { changed_by: _, ...shown } = sku;
  return shown;
}

/** GPUs are what the accelerator says: without any it is `cpu`, and with some it says whose they are. */
function requireConsistent({ accelerator, gpu_count, gpu_model }: Shape): void {
  const faults: InputFault[] = [];
  if (accelerator === 'cpu' && gpu_count > 0)
    faults.push({ pointer: '/gpu_count', detail: 'Expected 0 where the accelerator is cpu.' });
  if (accelerator === 'cpu' && gpu_model !== undefined)
    faults.push({ pointer: '/gpu_model', detail: 'Expected no model where the accelerator is cpu.' });
  if (accelerator !== 'cpu' && gpu_count === 0)
    faults.push({
      pointer: '/gpu_count',
      detail: 'Expected at least 1. An allocation without GPUs has the accelerator cpu.',
    });
  if (faults.length > 0) throw refuse('request.invalid', { faults });
}

export function planSku(before: Sku | undefined, sku: SkuName, wanted: PutSku, by: string, now: Date): Sku {
  requireConsistent(wanted);
  const at = now.toISOString();
  return {
    ...wanted,
    sku,
    changed_by: by,
    created_at: before?.created_at ?? at,
    updated_at: at,
    version: (before?.version ?? 0) + 1,
  };
}

/** One that was never there and one that is offered no more are told apart: whoever has its name may ask why. */
export function requireOffered(sku: Sku | undefined): Sku {
  if (!sku) throw refuse('sku.unknown');
  if (sku.status === 'retired') throw refuse('sku.retired');
  return sku;
}

export const subjectOfSku = (sku: SkuName): string => `sku:${sku}`;

const SkuTold = v.object({
  sku: SkuName,
  capacity_shape: v.picklist(CAPACITY_SHAPES),
  accelerator: v.picklist(ACCELERATORS),
  price_micros_per_hour: Micros,
  currency: Currency,
  status: v.picklist(SKU_STATUSES),
});

export const SkuChanged = event('platform.sku.changed', 1, SkuTold, (sku: Sku) => sku);
export const SkuRemoved = event('platform.sku.removed', 1, v.pick(SkuTold, ['sku']), (sku: Sku) => sku);
