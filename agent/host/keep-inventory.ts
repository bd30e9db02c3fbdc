import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { Inventory } from '../../functions/nodes/inventory.ts';
import { backOffMs, pause } from '../platform/back-off.ts';
import { nodePath } from '../platform/paths.ts';
import type { AskPlatform } from '../platform/platform-client.ts';
import type { Log } from '../tasks/performer.ts';

const LOOK_MS = 10 * 60_000;

/** Tells the platform what the host is made of: at the start, and whenever it has changed. Until the signal is aborted. */
export async function keepInventory(
  parts: { nodeId: string; ask: AskPlatform; read: () => Promise<Inventory>; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { nodeId, ask, read, log } = parts;
  let told: Inventory | undefined;
  for (let failures = 0; !signal.aborted;) {
    const inventory = await read();
    try {
      if (!isDeepStrictEqual(inventory, told)) {
        const path = nodePath(nodeId, '/inventory');
        await ask({ method: 'PUT', path, body: { inventory }, signal }, v.unknown());
        told = inventory;
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      log('warn', 'The inventory could not be told.', { error, failures });
    }
    await pause(failures > 0 ? backOffMs(failures) : LOOK_MS, signal);
  }
}
