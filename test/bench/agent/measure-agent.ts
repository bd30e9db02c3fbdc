import type { ReadyFile } from '../../e2e/platform-copy.ts';
import type { Row } from '../measure.ts';
import { measureIdle } from './idle.ts';
import { openMeasuredHost } from './measured-host.ts';
import { measurePickUp } from './pick-up.ts';

/** What a host costs and how fast it is. Where this machine can be no host there is nothing to measure. */
export async function measureAgent(ready: ReadyFile): Promise<Row[]> {
  if (ready.demo.node_id === undefined) return [];
  const host = await openMeasuredHost(ready);
  try {
    return [...(await measureIdle(host)), ...(await measurePickUp(host))];
  } finally {
    await host.close();
  }
}
