// What NVIDIA's tools say of a host. Pure.

import type { Gpu } from '../../functions/nodes/inventory.ts';

/** What is asked of nvidia-smi, in this order. */
export const NVIDIA_QUERY = ['uuid', 'name', 'memory.total', 'driver_version', 'mig.mode.current'] as const;

interface Card {
  uuid: string;
  model: string;
  memoryMib: number;
  driverVersion: string;
  isCut: boolean;
}

/** `nvidia-smi --query-gpu=… --format=csv,noheader,nounits` */
function parseCards(csv: string): Card[] {
  return lines(csv).flatMap((line) => {
    const [uuid = '', model = '', memory = '', driverVersion = '', mig = ''] = line.split(', ');
    // A card that has fallen off the bus answers with `[N/A]` or `ERR!` in its places.
    const memoryMib = Number(memory);
    if (!/^GPU-[\w-]+$/.test(uuid) || !(memoryMib > 0)) return [];
    return [
      { uuid, model, memoryMib: Math.floor(memoryMib), driverVersion, isCut: mig.trim() === 'Enabled' },
    ];
  });
}

const CARD_LINE = /^GPU \d+: .*\(UUID: (GPU-[\w-]+)\)/;
const PART_LINE = /^\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (MIG-[\w/-]+)\)/;

/** `nvidia-smi -L`: the parts a card is cut into stand below it. */
function parseParts(list: string): { uuid: string; profile: string; parentUuid: string }[] {
  let parentUuid = '';
  return lines(list).flatMap((line) => {
    parentUuid = CARD_LINE.exec(line)?.[1] ?? parentUuid;
    const [, profile, uuid] = PART_LINE.exec(line) ?? [];
    return profile && uuid && parentUuid ? [{ uuid, profile, parentUuid }] : [];
  });
}

/** What can be given to a workload: whole cards, and of those that are cut, their parts. */
export function nvidiaGpus(csv: string, list: string): { gpus: Gpu[]; driverVersion: string | undefined } {
  const cards = parseCards(csv);
  const parts = parseParts(list);
  const gpus = cards.flatMap((card): Gpu[] => {
    const { uuid, model, memoryMib, isCut } = card;
    const whole = { vendor: 'nvidia' as const, model: model.slice(0, 100) };
    if (!isCut) return [{ uuid, ...whole, memory_mib: memoryMib }];
    return parts
      .filter(({ parentUuid }) => parentUuid === uuid)
      .map(({ uuid: part, profile }) => ({
        uuid: part,
        ...whole,
        memory_mib: Math.min(memoryOf(profile) ?? memoryMib, memoryMib),
        mig: { profile, parent_uuid: uuid },
      }));
  });
  return { gpus, driverVersion: cards[0]?.driverVersion };
}

/** `3g.20gb`, also `1g.5gb+me` and, of a part of a part, `1c.3g.20gb`. */
function memoryOf(profile: string): number | undefined {
  const [, gib] = /\.(\d+)gb/.exec(profile) ?? [];
  return gib === undefined ? undefined : Number(gib) * 1024;
}

/** `nvidia-ctk --version` */
export const parseToolkit = (text: string): string | undefined =>
  /version (\d+\.\d+\.\d+(?:[-~.+\w]*)?)/i.exec(text)?.[1];

const lines = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.trim() !== '');
