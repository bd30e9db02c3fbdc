import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startCopy } from '../e2e/platform-copy.ts';
import { readRun, requestRun } from '../faults/runs.ts';
import { quantile } from './measure.ts';
const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-bench-'));
const copy = await startCopy({ dataDir });
const by = new Map<string, number[]>();
try {
  for (let i = 0; i < 105; i++) {
    const id = await requestRun(copy.ready);
    for (;;) {
      await wait(150);
      const { body } = (await readRun(copy.ready, id)) as any;
      if (body.status === 'passed') {
        if (i >= 5) for (const h of body.hops) by.set(h.hop, [...(by.get(h.hop) ?? []), h.offset_ms]);
        break;
      }
    }
  }
  for (const [hop, s] of by)
    console.log(
      hop,
      'p50',
      quantile(s, 0.5),
      'p90',
      quantile(s, 0.9),
      'p99',
      quantile(s, 0.99),
      'min',
      Math.min(...s),
    );
} finally {
  await copy.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
