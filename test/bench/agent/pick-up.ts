import { randomUUID } from 'node:crypto';
import { quantile, type Row } from '../measure.ts';
import type { MeasuredHost } from './measured-host.ts';

const TASKS = 40;

/**
 * From the answer to whoever asks something of a host to the moment its agent, which waits at the queue, reports the
 * outcome. The volume that is to be removed is unknown, so there is nothing else to do.
 */
export async function measurePickUp({ api, nodeId, requests, next }: MeasuredHost): Promise<Row[]> {
  const samples: number[] = [];
  for (let task = 0; task < TASKS; task += 1) {
    const body = { kind: 'volume.remove', payload: { volume_id: randomUUID() } };
    const before = requests.length;
    await api.send('POST', `/api/v1/admin/nodes/${nodeId}/tasks`, body);
    const acceptedMs = performance.timeOrigin + performance.now();
    const { atMs } = await next(/\/outcome$/, before);
    samples.push(atMs - acceptedMs);
  }
  return [0.5, 0.99].map((q) => ({
    what: `task accepted → outcome reported, idle long poll, p${q * 100}`,
    value: quantile(samples, q),
    unit: 'ms',
    note: `${samples.length} tasks`,
  }));
}
