import type { Domain } from '../../functions/routes.ts';
import { packText } from '../../functions/docs/packed-text.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { exportJWK, generateKeyPair, importPKCS8, SignJWT } from 'jose';
import type { Registry } from '../../lib/local/registry/registry.ts';
import { agentTexts } from '../../lib/agent-bundle.ts';
import { buildAsyncapi } from '../../lib/asyncapi.ts';
import { buildOpenapi } from '../../lib/openapi.ts';
import { PREFIXES } from '../../lib/wildcards.ts';
import { createControlTable } from '../control-table.ts';
import { openDynamoDb } from '../dynamodb.ts';
import { countRepeats, testRoughness } from '../rough.ts';
import { beStrict } from '../strict-dynamodb.ts';
import { until } from '../until.ts';
import type { Roughness } from '../../lib/local/wire/roughness.ts';
import { agentFile } from '../agent/serving/agent-file.ts';
import { allow, openAwsServices } from '../local/services/aws-services-world.ts';

const BUCKET = 'artifacts';
/** As lib/artifacts.ts grants it to the role that publishes. */
const PUBLISHING = [...PREFIXES.publishing.actions, 'ecr:GetAuthorizationToken'];
/** As lib/nodes.ts grants it to the role by which hosts read their queues. */
const READING_QUEUES = [
  allow(
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
    'arn:aws:sqs:us-east-1:000000000000:gpuaas-node-*',
  ),
];
/** As lib/tasks.ts grants it to the role by which hosts pull. */
const PULLING = [
  allow([...PREFIXES.nodePulls.actions], 'arn:aws:ecr:us-east-1:000000000000:repository/gpuaas/apps/*'),
  allow('ecr:GetAuthorizationToken', '*'),
];
const AUDIENCE = 'urn:gpuaas:api';
export const ADMIN = 'admin-subject';
const HOST_KEY = '33333333-3333-4333-8333-333333333333';
const SIGNING_KEYS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

export interface Call {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  token?: string;
  headers?: Record<string, string>;
  sourceIp?: string;
  /** Whose signature the gateway has checked, on routes of the platform team. */
  userArn?: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  text: string;
}

/**
 * The functions in this process, with their handlers as the gateway calls them, over real DynamoDB, KMS and S3. People
 * come from an issuer of the test's own, whose keys are served over HTTP.
 */
export async function openWorld({
  registry,
  roughness = testRoughness(),
}: { registry?: 'real' | Registry; roughness?: Roughness } = {}) {
  const dynamodb = await openDynamoDb();
  const { table } = dynamodb;
  const services = await openAwsServices({ dynamodb, registry });
  for (const id of [...SIGNING_KEYS, HOST_KEY])
    services.kms.createKey({ id, keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' });
  services.ecr.putRepository({ name: 'gpuaas/platform', tagMutability: 'IMMUTABLE' });
  const issuer = await openIssuer();
  // Straight to the engine: nothing here is about what the front door adds, and every call would pay for it.
  const direct = { ...services.asOperator(), endpoint: dynamodb.url };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(direct));
  await createControlTable(table, client);
  const s3 = new S3Client(services.asOperator());
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  await s3.send(
    new PutBucketVersioningCommand({ Bucket: BUCKET, VersioningConfiguration: { Status: 'Enabled' } }),
  );

  const { accessKeyId, secretAccessKey } = services.principals.operator();
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: services.url,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ARTIFACTS_BUCKET: BUCKET,
    AUTHORIZATION_CACHE_SECONDS: '5',
    CONTROL_TABLE: table,
    HEARTBEAT_SECONDS: '60',
    HOST_KEY_ID: HOST_KEY,
    INVITATIONS_WITHOUT_EMAIL: 'refused',
    NODE_LOST_SECONDS: '600',
    NODE_SUSPECT_SECONDS: '180',
    OIDC_ISSUERS: JSON.stringify([issuer.config]),
    PLATFORM_ADMINS: ADMIN,
    PLATFORM_REPOSITORY: 'gpuaas/platform',
    PLATFORM_VERSION: 'test',
    REGISTRY_HOST: services.registry.host,
    REGISTRY_NAME: 'registry.gpuaas.example.com',
    PUBLISHER_ROLE_ARN: services.putRole('publisher', [allow(PUBLISHING, '*')]),
    PULLER_ROLE_ARN: services.putRole('puller', PULLING),
    QUEUE_READER_ROLE_ARN: services.putRole('queue-reader', READING_QUEUES),
    ROOT_WITHOUT_REMAP: 'refused',
    SIGNING_KEY_IDS: SIGNING_KEYS.join(','),
    SOCKET_URL: 'ws://127.0.0.1:1/live',
    TOKEN_ISSUER: 'https://api.example.test',
    TOKEN_TTL_SECONDS: '900',
  });
  // Of a world before this one.
  Reflect.deleteProperty(globalThis, 'AGENT_FILE');
  // The bundler puts it there otherwise.
  Object.assign(globalThis, {
    OPENAPI_DOCUMENT: packText(JSON.stringify(buildOpenapi())),
    ASYNCAPI_DOCUMENT: packText(JSON.stringify(buildAsyncapi())),
    ...agentTexts(),
  });
  // Bundled for those alone who ask for it.
  Object.defineProperty(globalThis, 'AGENT_FILE', { configurable: true, get: agentFile });
  // Only now: the kernel's clients are built from the environment above.
  const [{ routes, tables }, { authorizationCache }, { userIdOf }, { dynamo }, { forgetCatalog }] =
    await Promise.all([
      import('../../functions/routes.ts'),
      import('../../functions/platform/auth/authorization-cache.ts'),
      import('../../functions/platform/auth/tokens.ts'),
      import('../../functions/platform/clients.ts'),
      import('../../functions/catalog/catalog-cache-store.ts'),
    ]);
  const handlers = await handlersOf(Object.keys(tables) as Domain[]);
  const forget = (): void => {
    authorizationCache.clear();
    forgetCatalog();
  };
  const { happens, repeats } = countRepeats(roughness);
  const strict = beStrict(dynamo(), client, happens);
  let requests = 0;
  dynamo().middlewareStack.add((next) => (args) => ((requests += 1), next(args)), { step: 'initialize' });

  async function call(
    route: string,
    { params = {}, query, body, token, headers = {}, sourceIp, userArn }: Call = {},
  ): Promise<Answer> {
    const { domain } = routes[route as keyof typeof routes];
    const event = {
      version: '2.0',
      routeKey: route,
      rawPath: '',
      rawQueryString: '',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      pathParameters: params,
      queryStringParameters: query,
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      isBase64Encoded: false,
      requestContext: {
        http: { method: '', path: '', protocol: '', userAgent: '', sourceIp: sourceIp ?? '127.0.0.1' },
        ...(userArn !== undefined && { authorizer: { iam: { userArn } } }),
      },
    } as unknown as APIGatewayProxyEventV2;
    const result: APIGatewayProxyStructuredResultV2 = await handlers[domain](event);
    const text = result.body ?? '';
    const json = String(result.headers?.['content-type']).includes('json');
    return {
      status: result.statusCode ?? 0,
      headers: (result.headers ?? {}) as Record<string, string>,
      body: json && text !== '' ? (JSON.parse(text) as unknown) : {},
      text,
    };
  }

  return {
    client,
    issuer,
    call,
    routes,
    services,
    /** DynamoDB requests of the functions so far, without those that chance had them make again. */
    requests: () => requests - repeats(),
    /** Waits until the index shows everything the functions wrote. */
    indexed: () => until(() => !strict.isBehind),
    /** How often the functions met a transaction of somebody else. */
    conflicts: () => strict.conflicts,
    /** As in a function that has just started. */
    forgetAuthorization: forget,
    userId: (subject: string) => userIdOf(issuer.config.issuer, subject),
    async put(item: Record<string, unknown>): Promise<void> {
      await client.send(new PutCommand({ TableName: table, Item: item }));
    },
    async get(key: { pk: string; sk: string }): Promise<Record<string, unknown> | undefined> {
      return (await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;
    },
    /** The version that was written. */
    async putObject(key: string, body: string | Buffer): Promise<string> {
      const command = new PutObjectCommand({
        Bucket: BUCKET,
        Key: key,
        Body: body,
        ChecksumAlgorithm: 'SHA256',
      });
      return (await s3.send(command)).VersionId ?? '';
    },
    async removeObject(key: string, versionId: string): Promise<void> {
      await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key, VersionId: versionId }));
    },
    async set({ pk, sk }: { pk: string; sk: string }, name: string, value: unknown): Promise<void> {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: { pk, sk },
          UpdateExpression: 'SET #name = :value',
          ExpressionAttributeNames: { '#name': name },
          ExpressionAttributeValues: { ':value': value },
        }),
      );
    },
    async items(prefix: string): Promise<Record<string, unknown>[]> {
      const pages = paginateScan(
        { client },
        {
          TableName: table,
          ConsistentRead: true,
          FilterExpression: 'begins_with(pk, :prefix)',
          ExpressionAttributeValues: { ':prefix': prefix },
        },
      );
      const items: Record<string, unknown>[] = [];
      for await (const { Items = [] } of pages) items.push(...Items);
      return items;
    },
    /** The table empty, and nothing remembered of it. */
    async clear(): Promise<void> {
      for await (const { Items = [] } of paginateScan({ client }, { TableName: table, Limit: 25 })) {
        const deletes = Items.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
        if (deletes.length > 0)
          await client.send(new BatchWriteCommand({ RequestItems: { [table]: deletes } }));
      }
      forget();
    },
    /** A service account's token, by the way a real one takes: a signed assertion. */
    async accountToken(account: { id: string; key_id: string; private_key_pem: string }): Promise<string> {
      const assertion = await signAssertion(account);
      const answer = await call('POST /api/v1/auth/service-account/token', { body: { assertion } });
      return (answer.body as { access_token: string }).access_token;
    },
    /** A node's token, by the way its agent takes. */
    async nodeToken(node: { id: string; private_key_pem: string }): Promise<string> {
      const assertion = await signAssertion({ ...node, key_id: node.id });
      const answer = await call('POST /api/v1/auth/node/token', {
        body: { assertion },
        sourceIp: anyAddress(),
      });
      return (answer.body as { access_token: string }).access_token;
    },
    async close(): Promise<void> {
      issuer.close();
      await services.close();
      await dynamodb.close();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Where credentials are tried, one address is soon told to wait. */
export const anyAddress = (): string =>
  `2001:db8:${crypto.randomUUID().slice(0, 4)}:${crypto.randomUUID().slice(0, 4)}::1`;

export async function signAssertion(
  account: { id: string; key_id: string; private_key_pem: string },
  claims: Record<string, unknown> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    iss: account.id,
    sub: account.id,
    aud: 'https://api.example.test',
    iat: now,
    exp: now + 60,
    jti: crypto.randomUUID(),
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid: account.key_id })
    .sign(await importPKCS8(account.private_key_pem, 'ES256'));
}

async function openIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'people-1', alg: 'ES256', use: 'sig' };
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = {
    issuer,
    jwks_uri: `${issuer}/jwks`,
    audience: AUDIENCE,
    audience_claim: 'aud',
    algorithms: ['ES256'],
    typ: 'at+jwt',
    tells_email: true,
  };
  return {
    config,
    close: () => server.close(),
    async token(
      subject: string,
      change: {
        claims?: Record<string, unknown>;
        header?: Record<string, unknown>;
        key?: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
      } = {},
    ): Promise<string> {
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: issuer,
        sub: subject,
        aud: AUDIENCE,
        iat: now,
        exp: now + 600,
        email: `${subject}@example.com`,
      };
      return new SignJWT({ ...claims, ...change.claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'people-1', typ: 'at+jwt', ...change.header })
        .sign(change.key ?? privateKey);
    },
  };
}

type Handler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

async function handlersOf(domains: Domain[]): Promise<Record<Domain, Handler>> {
  const loaded = domains.map(async (domain) => {
    const { handler } = (await import(`../../functions/${domain}/api.ts`)) as { handler: Handler };
    return [domain, handler];
  });
  return Object.fromEntries(await Promise.all(loaded)) as Record<Domain, Handler>;
}
