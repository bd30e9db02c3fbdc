import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { readAssembly } from './template/assembly.ts';
import { REGION } from './wire/aws.ts';
import { folderSecret } from './system/data-folder.ts';
import type { DynamoDbEngine } from './engines/dynamodb.ts';
import { startEngines, type Engines } from './start-engines.ts';
import { Expiry } from './schedules/expiry.ts';
import type { ClaimedPort, FrontDoor } from './iam/front-door.ts';
import { Apis } from './gateway/apis.ts';
import { createExecuteApiService } from './gateway/execute-api.ts';
import { HttpGateway } from './gateway/http-gateway.ts';
import { Integration } from './gateway/integration.ts';
import { SocketGateway } from './gateway/socket-gateway.ts';
import { Iam } from './iam/iam.ts';
import { openJournal, type Journal } from './journal/journal.ts';
import { createDeliver } from './lambda/deliver.ts';
import { Functions } from './lambda/functions.ts';
import { Mappings } from './mappings/mappings.ts';
import type { Person } from './oidc/people.ts';
import { createOidcProvider, type OidcProvider } from './oidc/provider.ts';
import { Principals, type AwsCredentials } from './iam/principals.ts';
import { provision, type Runners } from './resources/provision.ts';
import type { ReadyFile } from './system/ready-file.ts';
import { RegistryTokens } from './registry/registry-tokens.ts';
import type { Makers, World } from './resources/kind.ts';
import type { Roughness } from './wire/roughness.ts';
import { say } from './wire/say.ts';
import { Schedules } from './schedules/schedules.ts';
import { createDynamoDbService } from './services/dynamodb.ts';
import { createEcrService } from './registry/ecr.ts';
import { createEventsService } from './services/events.ts';
import { createKmsService } from './services/kms.ts';
import { createLambdaService } from './services/lambda.ts';
import { createS3Service } from './services/s3.ts';
import { createSqsService } from './services/sqs.ts';
import { StepFunctions } from './step-functions/index.ts';
import { createStsService } from './services/sts.ts';
import type { SystemParts } from './system/system.ts';

export interface PlatformOptions {
  dataDir: string;
  /** Listening, and not yet open. */
  frontDoor: ClaimedPort;
  dynamodb: DynamoDbEngine;
  roughness: Roughness;
  parts: SystemParts;
  /** Who can sign in. */
  people: readonly Person[];
}

interface Wired {
  dataDir: string;
  journal: Journal;
  engines: Engines;
  frontDoor: FrontDoor;
  oidc: OidcProvider;
  sockets: SocketGateway;
  runners: Runners;
  makers: Makers;
  operator: AwsCredentials;
}

/** Everything that serves a template on this machine, wired once. */
export class LocalPlatform {
  #wired: Wired;

  private constructor(wired: Wired) {
    this.#wired = wired;
  }

  static async open(options: PlatformOptions): Promise<LocalPlatform> {
    const journal = openJournal(options.dataDir);
    try {
      return new LocalPlatform(await wire(journal, options));
    } catch (error) {
      await options.frontDoor.close();
      journal.close();
      throw error;
    }
  }

  /** Provisions an assembly, now or again. Returns how many resources it has. */
  async apply(assembly: string): Promise<number> {
    const { makers, runners } = this.#wired;
    return provision(readAssembly(assembly), makers, runners);
  }

  /** Sets everything going that works by itself: streams, queues, schedules, and executions left running. */
  run(): void {
    const { functions, mappings, machines, schedules, expiry } = this.#wired.runners;
    functions.start();
    machines.start();
    mappings.start();
    schedules.start();
    expiry.start();
  }

  whereabouts(): Omit<ReadyFile, 'pid'> {
    const { frontDoor, runners, engines, oidc } = this.#wired;
    const { url } = frontDoor;
    const socket = runners.apis.find('WEBSOCKET');
    return {
      api_url: url,
      ws_url:
        socket === undefined ? null : `${url.replace(/^http/, 'ws')}/_apis/${socket.id}/${socket.stage}`,
      aws_endpoint: url,
      region: REGION,
      oidc_issuer: oidc.issuer,
      registry: engines.registry?.host ?? null,
      docker_host: engines.docker?.host ?? null,
      aws_credentials_file: this.#writeCredentials(),
    };
  }

  /** Stops taking work before stopping what does it. */
  async stop(): Promise<void> {
    const { runners, sockets, frontDoor, engines, journal } = this.#wired;
    const { functions, mappings, machines, schedules, expiry } = runners;
    await Promise.all([schedules.stop(), mappings.stop(), machines.stop(), expiry.stop()]);
    await sockets.close();
    await functions.stop();
    await frontDoor.close();
    await engines.stop();
    journal.close();
  }

  #writeCredentials(): string {
    const { dataDir, operator } = this.#wired;
    const file = join(dataDir, 'aws-credentials');
    const { accessKeyId, secretAccessKey } = operator;
    writeFileSync(
      file,
      `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
      { mode: 0o600 },
    );
    return file;
  }
}

async function wire(
  journal: Journal,
  { dataDir, frontDoor, dynamodb: engine, roughness, parts, people }: PlatformOptions,
): Promise<Wired> {
  const { url } = frontDoor;
  const endpoint = (): string => url;
  const secret = folderSecret(dataDir);
  const principals = new Principals(secret, endpoint);
  const iam = new Iam();
  const tokens = new RegistryTokens({ dataDir, principals, iam });
  const oidc = createOidcProvider({ url, people, journal, dataDir, secret });
  const engines = await startEngines({ dataDir, journal, tokens, dynamodb: engine, parts });

  const deliver = createDeliver(principals);
  const functions = new Functions({ principals, journal, endpoint, deliver, logDir: join(dataDir, 'logs') });
  const mappings = new Mappings({ functions, principals, journal, deliver, roughness });
  const machines = new StepFunctions({ journal, principals });
  const schedules = new Schedules({ principals, journal, deliver });
  const apis = new Apis();
  const integration = new Integration(functions, iam);
  const http = new HttpGateway(apis, integration);
  const sockets = new SocketGateway(apis, integration);
  const kms = createKmsService({ journal, masterSecret: secret });
  const ecr = createEcrService({ journal, registry: engines.registry, tokens });

  frontDoor.open({
    principals,
    iam,
    services: [
      createDynamoDbService({
        engine: () => engines.dynamodb,
        onWrite: (tables) => mappings.wake(tables),
        roughness,
      }),
      createSqsService({ engine: () => engines.queues, endpoint }),
      createS3Service({ engine: () => engines.queues, iam, journal }),
      createLambdaService(functions),
      createExecuteApiService(apis, http, sockets),
      machines.service,
      createStsService({ principals, iam }),
      kms,
      ecr,
      createEventsService({ journal }),
    ],
    fallback: (request, response) => {
      const path = request.url ?? '/';
      return oidc.serves(path) ? oidc.serve(request, response) : http.serve(request, response);
    },
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    onDenied: (message) => say('iam', `AccessDenied: ${message}`),
  });

  const operator = principals.operator();
  const client = { endpoint: url, region: REGION, credentials: operator };
  const dynamodb = new DynamoDBClient(client);
  const world: World = { url, streams: new Map(), registryHost: engines.registry?.host };
  const makers: Makers = {
    dynamodb,
    sqs: new SQSClient(client),
    s3: new S3Client({ ...client, forcePathStyle: true }),
    world,
    createKey: (key) => void kms.createKey(key),
    putAlias: (name, keyId) => kms.putAlias(name, keyId),
    putRepository: (repository) => ecr.putRepository(repository),
  };
  const expiry = new Expiry(dynamodb);
  const runners = { iam, functions, mappings, machines, schedules, apis, expiry };
  return { dataDir, journal, engines, frontDoor, oidc, sockets, runners, makers, operator };
}
