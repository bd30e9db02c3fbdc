import type { ReadyFile } from '../e2e/platform-copy.ts';
import { functionBundles } from './cold-init.ts';
import { interleave, quantile, type Row } from './measure.ts';

// Fewer than one address may ask at once: beyond that the platform refuses, and refusals would be measured.
const ROUNDS = 150;

/** What the local gateway, worker hand-over and HTTP add to a handler that does next to nothing. */
export async function measureRoundTrip(assembly: string, ready: ReadyFile): Promise<Row[]> {
  const direct = await directHandler(assembly);
  const url = `${ready.api_url}/api/v1/health`;
  const samples = await interleave(ROUNDS, {
    http: () => elapsedMs(() => expectOk(fetch(url))),
    direct: () => elapsedMs(direct),
  });
  const [http, bare] = [quantile(samples['http'], 0.5), quantile(samples['direct'], 0.5)];
  return [
    {
      what: 'local request round trip ÷ direct handler call',
      value: http / bare,
      unit: '×',
      note: `p50 ${http.toFixed(2)} ms ÷ ${bare.toFixed(3)} ms, p99 ${quantile(samples['http'], 0.99).toFixed(2)} ms`,
    },
  ];
}

/** The very bundle the gateway calls, called without it. */
async function directHandler(assembly: string): Promise<() => Promise<unknown>> {
  const bundle = functionBundles(assembly).find(({ name }) => name === 'selftest-api');
  if (bundle === undefined) throw new Error('The assembly holds no function that answers health.');
  process.env['PLATFORM_VERSION'] = 'bench';
  const { handler } = (await import(bundle.file)) as {
    handler: (event: unknown) => Promise<{ statusCode: number }>;
  };
  return () =>
    silently(async () => {
      const answer = await handler({ routeKey: 'GET /api/v1/health', headers: {}, pathParameters: {} });
      if (answer.statusCode !== 200) throw new Error(`The handler answered ${answer.statusCode}.`);
    });
}

async function expectOk(request: Promise<Response>): Promise<void> {
  const response = await request;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
}

/** What a function logs goes to a file when the engine runs it, and nowhere here. */
async function silently(work: () => Promise<void>): Promise<void> {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = () => true;
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
