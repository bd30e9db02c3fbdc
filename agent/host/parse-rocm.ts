// What AMD's tools say of a host. Pure.

import * as v from 'valibot';
import type { Gpu } from '../../functions/nodes/inventory.ts';

/** What is asked of rocm-smi. */
export const ROCM_WORDS = [
  '--showuniqueid',
  '--showproductname',
  '--showmeminfo',
  'vram',
  '--showdriverversion',
  '--json',
];

const Card = v.object({
  'Unique ID': v.string(),
  'VRAM Total Memory (B)': v.string(),
  'Card Series': v.optional(v.string()),
  'Card series': v.optional(v.string()),
  'Card model': v.optional(v.string()),
});

const System = v.object({ 'Driver version': v.string() });

/** Cards are named by the id burnt into them: their numbers change with a restart. */
export function amdGpus(json: string): { gpus: Gpu[]; driverVersion: string | undefined } {
  const content = readObject(json);
  const gpus = Object.entries(content).flatMap(([name, each]): Gpu[] => {
    const card = v.safeParse(Card, each);
    if (!name.startsWith('card') || !card.success) return [];
    const id = /^0x([0-9a-f]{8,16})$/i.exec(card.output['Unique ID'])?.[1];
    const bytes = Number(card.output['VRAM Total Memory (B)']);
    if (!id || !(bytes > 0)) return [];
    const model =
      card.output['Card Series'] ?? card.output['Card series'] ?? card.output['Card model'] ?? 'AMD GPU';
    return [
      {
        uuid: `GPU-${id.toLowerCase().padStart(16, '0')}`,
        vendor: 'amd',
        model: model.slice(0, 100),
        memory_mib: Math.floor(bytes / 1024 / 1024),
      },
    ];
  });
  const system = v.safeParse(System, content['system']);
  return { gpus, driverVersion: system.success ? system.output['Driver version'] : undefined };
}

/** Warnings may stand before the object. */
function readObject(text: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text.slice(Math.max(0, text.indexOf('{'))));
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
