import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { readAssembly } from '../../lib/local/template/assembly.ts';
import { identifyWith } from '../../lib/local/resources/index.ts';
import { Templates } from '../../lib/local/template/template.ts';
import { shortName } from '../lib/synthesized.ts';
import { KILOBYTES_MAX } from './bundle-sizes.ts';
import { interleave, quantile, type Row } from './measure.ts';

const ROUNDS = 12;
/** Of the functions with an SDK client, those with the most code besides: the others start faster. */
const MEASURED = 3;

interface Bundle {
  name: string;
  file: string;
}

/** Bundle sizes, and cold init against a handler that only builds the SDK clients the bundle holds. */
export async function measureColdInit(assembly: string): Promise<Row[]> {
  const compared = await Promise.all(
    functionBundles(assembly).map(async ({ name, file }) => {
      const clients = clientsIn(readFileSync(file, 'utf8'));
      const bare = await bundleClients(clients);
      const bytes = statSync(file).size;
      return { name, file, clients, bare, bytes, ownBytes: bytes - statSync(bare).size };
    }),
  );
  const [largest] = compared.toSorted((a, b) => b.bytes - a.bytes);
  if (largest === undefined) throw new Error('The assembly holds no function.');
  const heaviest = compared
    .filter(({ clients }) => clients.length > 0)
    .sort((a, b) => b.ownBytes - a.ownBytes)
    .slice(0, MEASURED);
  const rows: Row[] = [];
  for (const { name, file, bare, clients } of heaviest) {
    const samples = await interleave(ROUNDS, { real: () => importMs(file), bare: () => importMs(bare) });
    const [realMs, bareMs] = [quantile(samples['real'], 0), quantile(samples['bare'], 0)];
    const named = clients.map((client) => client.name).join(', ');
    rows.push({
      what: `cold init ÷ only building the same SDK clients, ${name}`,
      value: realMs / bareMs,
      unit: '×',
      must: 1.3,
      aim: 1.1,
      note: `${realMs.toFixed(0)} ms ÷ ${bareMs.toFixed(0)} ms: ${named}`,
    });
  }
  return [
    {
      what: 'largest bundle',
      value: largest.bytes / 1000,
      unit: 'kB',
      must: KILOBYTES_MAX,
      note: largest.name,
    },
    ...rows,
  ];
}

export function functionBundles(assembly: string): Bundle[] {
  const world = {
    url: 'http://127.0.0.1:1',
    streams: { get: () => 'arn:stream' } as unknown as Map<string, string>,
  };
  return new Templates(readAssembly(assembly), identifyWith(world))
    .resources()
    .filter((resource) => resource.type === 'AWS::Lambda::Function')
    .map((resource) => {
      const { S3Key } = resource.properties['Code'] as { S3Key: string };
      return {
        name: shortName(resource.identity.ref),
        file: join(resource.assets.get(S3Key) ?? '', 'index.mjs'),
      };
    });
}

interface Client {
  name: string;
  module: string;
  build: string;
}

const CLIENTS: (Client & { mark: string })[] = [
  {
    mark: 'DynamoDB_20120810',
    name: 'DynamoDBClient',
    module: '@aws-sdk/client-dynamodb',
    build: 'new DynamoDBClient({})',
  },
  { mark: 'AWSStepFunctions', name: 'SFNClient', module: '@aws-sdk/client-sfn', build: 'new SFNClient({})' },
  {
    mark: 'AWSEvents',
    name: 'EventBridgeClient',
    module: '@aws-sdk/client-eventbridge',
    build: 'new EventBridgeClient({})',
  },
  { mark: 'TrentService', name: 'KMSClient', module: '@aws-sdk/client-kms', build: 'new KMSClient({})' },
  { mark: 'com.amazonaws.s3', name: 'S3Client', module: '@aws-sdk/client-s3', build: 'new S3Client({})' },
  {
    mark: 'AmazonEC2ContainerRegistry',
    name: 'ECRClient',
    module: '@aws-sdk/client-ecr',
    build: 'new ECRClient({})',
  },
  {
    mark: 'AWSSecurityTokenService',
    name: 'STSClient',
    module: '@aws-sdk/client-sts',
    build: 'new STSClient({})',
  },
  { mark: 'AmazonSQS', name: 'SQSClient', module: '@aws-sdk/client-sqs', build: 'new SQSClient({})' },
  {
    mark: 'ApiGatewayManagementApi',
    name: 'ApiGatewayManagementApiClient',
    module: '@aws-sdk/client-apigatewaymanagementapi',
    build: "new ApiGatewayManagementApiClient({ endpoint: 'http://127.0.0.1:1' })",
  },
];

/** Which clients a bundle holds, by the names they put on the wire. */
function clientsIn(code: string): Client[] {
  return CLIENTS.filter((client) => code.includes(client.mark));
}

async function bundleClients(clients: Client[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gpuaas-bench-'));
  const source = [
    ...clients.map((client) => `import { ${client.name} } from '${client.module}';`),
    `export const clients = [${clients.map((client) => client.build).join(', ')}];`,
    'export const handler = async () => ({});',
  ].join('\n');
  const outfile = join(folder, 'index.mjs');
  await build({
    stdin: { contents: source, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    conditions: ['module'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}

/** A fresh process imports the file and says how long that took. */
async function importMs(file: string): Promise<number> {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); process.stdout.write(String(performance.now() - t)); process.exit(0)`;
  const env = { PATH: process.env['PATH'], AWS_REGION: 'us-east-1' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env,
  });
  return Number(stdout);
}
