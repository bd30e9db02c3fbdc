import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCopy } from '../e2e/platform-copy.ts';
import { synthesize } from '../lib/synthesized.ts';
import { measureLaunch } from './agent/launch.ts';
import { measureAgent } from './agent/measure-agent.ts';
import { measureCatalogue } from './catalogue.ts';
import { recordSizes, sizesOf } from './bundle-sizes.ts';
import { measureColdInit } from './cold-init.ts';
import { measureEdge } from './edge.ts';
import { measureEvents } from './events.ts';
import { measureHandlerCpu } from './handler-cpu.ts';
import { printTable, type Row } from './measure.ts';
import { measureRequests } from './requests.ts';
import { measureRoundTrip } from './round-trip.ts';
import { measureVerification } from './verification.ts';

// `npm run bench -- --record-bundles`: the sizes bundles have now are those they may have from now on.
if (process.argv.includes('--record-bundles')) {
  const app = synthesize({ validate: false });
  recordSizes(sizesOf(app));
  app.remove();
  process.exit();
}

const RESULTS = join(import.meta.dirname, 'results.json');

const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-bench-'));
const copy = await startCopy({ dataDir });
const assembly = join(dataDir, 'assembly');
let rows: Row[];
try {
  rows = [
    ...(await measureColdInit(assembly)),
    ...(await measureRoundTrip(assembly, copy.ready)),
    ...(await measureEvents(copy.ready)),
    ...(await measureAgent(copy.ready)),
  ];
} finally {
  await copy.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
// Only now: beside a running platform there is less of the processor to measure.
rows.push(...(await measureRequests()), ...(await measureHandlerCpu()), ...(await measureCatalogue()));
rows.push(...(await measureEdge()));
rows.push(...(await measureVerification()));
rows.push(...(await measureLaunch()));
printTable(rows);
writeFileSync(RESULTS, `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`);
process.stdout.write(`\nWritten to ${RESULTS}\n`);
process.exitCode = rows.some((row) => row.must !== undefined && row.value > row.must) ? 1 : 0;
