import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCOUNT, REGION, type PolicyDocument, type PolicyStatement } from '../../../lib/local/wire/aws.ts';
import { DYNAMODB_TRAITS, type DynamoDbConnection } from '../../../lib/local/engines/dynamodb.ts';
import { startQueuesAndObjects } from '../../../lib/local/engines/queues-and-objects.ts';
import { startRegistry, type Registry } from '../../../lib/local/registry/registry.ts';
import { openFrontDoor, type FrontDoorService } from '../../../lib/local/iam/front-door.ts';
import { Iam } from '../../../lib/local/iam/iam.ts';
import { openJournal } from '../../../lib/local/journal/journal.ts';
import { Principals, type AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { RegistryTokens } from '../../../lib/local/registry/registry-tokens.ts';
import { SMOOTH, type Roughness } from '../../../lib/local/wire/roughness.ts';
import { createDynamoDbService } from '../../../lib/local/services/dynamodb.ts';
import { createEcrService } from '../../../lib/local/registry/ecr.ts';
import { createKmsService } from '../../../lib/local/services/kms.ts';
import { createS3Service } from '../../../lib/local/services/s3.ts';
import { createSqsService } from '../../../lib/local/services/sqs.ts';
import { createStsService } from '../../../lib/local/services/sts.ts';

/** The front door with the data services behind it, and roles made up by the tests. */
export async function openAwsServices(
  options: {
    dataDir?: string;
    dynamodb?: DynamoDbConnection;
    roughness?: Roughness;
    services?: FrontDoorService[];
    /** A real one, or one the test makes up; otherwise ECR speaks of one that is nowhere. */
    registry?: 'real' | Registry;
  } = {},
) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'aws-services-'));
  // A known secret: what was sealed before a restart must open after it.
  const secret = Buffer.alloc(32, 7);
  let url = '';
  const principals = new Principals(secret, () => url);
  const iam = new Iam();
  const journal = openJournal(dataDir);
  const engine = await startQueuesAndObjects({ dataDir: join(dataDir, 'queues-and-objects') });
  const kms = createKmsService({ journal, masterSecret: secret });
  const tokens = new RegistryTokens({ dataDir, principals, iam });
  const written: string[][] = [];
  const denials: string[] = [];
  const services: FrontDoorService[] = [
    createDynamoDbService({
      engine: () => options.dynamodb ?? NO_DYNAMODB,
      onWrite: (tables) => written.push(tables),
      roughness: options.roughness ?? SMOOTH,
    }),
    createSqsService({ engine: () => engine, endpoint: () => url }),
    createS3Service({ engine: () => engine, iam, journal }),
    createStsService({ principals, iam }),
    kms,
    ...(options.services ?? []),
  ];
  const door = await openFrontDoor({
    port: 0,
    principals,
    iam,
    services,
    fallback: (request, response) => void response.end(`gateway ${request.method} ${request.url}`),
    upgrade: (_request, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    onDenied: (message) => denials.push(message),
  });
  url = door.url;
  const registry =
    options.registry === 'real'
      ? await startRegistry({ dataDir, journal, tokens })
      : (options.registry ?? NOWHERE);
  const ecr = createEcrService({ journal, registry, tokens });
  services.push(ecr);

  const putRole = (name: string, statements: PolicyStatement[], trust = trustAccount): string => {
    const arn = `arn:aws:iam::${ACCOUNT}:role/${name}`;
    iam.putRole({ arn, trust, policies: [{ Version: '2012-10-17', Statement: statements }] });
    return arn;
  };
  /** Settings for an SDK client. */
  const as = (credentials: AwsCredentials) => ({
    endpoint: url,
    region: REGION,
    credentials,
    maxAttempts: 1,
  });
  /** Like the end of the process: the data stays. */
  const stop = async (): Promise<void> => {
    await registry.stop();
    await door.close();
    await engine.stop();
    journal.close();
  };

  return {
    url,
    dataDir,
    principals,
    iam,
    kms,
    ecr,
    registry,
    tokens,
    written,
    denials,
    putRole,
    as,
    asOperator: () => as(principals.operator()),
    asRole: (name: string, ...statements: PolicyStatement[]) =>
      as(principals.session(putRole(name, statements), 'test')),
    stop,
    async close(): Promise<void> {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const NO_DYNAMODB: DynamoDbConnection = {
  ...DYNAMODB_TRAITS.dynoxide,
  url: 'http://127.0.0.1:1',
};

const NOWHERE: Registry = {
  host: 'registry.invalid',
  url: 'http://registry.invalid',
  port: 0,
  inner: { url: 'http://registry.invalid' },
  storageDir: 'no-such-folder',
  pid: () => undefined,
  stop: () => Promise.resolve(),
};

export type AwsServices = Awaited<ReturnType<typeof openAwsServices>>;

export const trustAccount: PolicyDocument = {
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Principal: { AWS: `arn:aws:iam::${ACCOUNT}:root` }, Action: 'sts:AssumeRole' },
  ],
};

export function allow(
  action: string | string[],
  resource: string | string[],
  condition?: object,
): PolicyStatement {
  return { Effect: 'Allow', Action: action, Resource: resource, ...(condition && { Condition: condition }) };
}

/** The error of a request that must fail. */
export async function failure(
  request: Promise<unknown>,
): Promise<Error & { $metadata?: { httpStatusCode?: number; requestId?: string } }> {
  try {
    await request;
  } catch (error) {
    return error as Error;
  }
  throw new Error('The request was expected to fail and did not.');
}
