import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import type { ScopedProject } from '../../functions/platform/scope.ts';
import { type Context, createContext } from '../../functions/platform/context.ts';
import type { Endpoint, Reply } from '../../functions/platform/http/endpoint.ts';
import type { Request } from '../../functions/platform/http/request.ts';
import { openFrontDoor } from '../../lib/local/iam/front-door.ts';
import { Iam } from '../../lib/local/iam/iam.ts';
import { openJournal } from '../../lib/local/journal/journal.ts';
import { Principals } from '../../lib/local/iam/principals.ts';
import { createKmsService } from '../../lib/local/services/kms.ts';
import { startControlTable } from '../control-table.ts';

export const ISSUER = 'https://api.example.test';
export const TTL_SECONDS = 900;

const KMS_KEYS = ['signing-1', 'signing-2'];

export const project: ScopedProject = {
  id: '0199aaaa-0000-7000-8000-00000000000a',
  org_id: '0199aaaa-0000-7000-8000-000000000001',
  slug: 'example',
  name: 'Example',
  status: 'active',
  version: 1,
};

/** A KMS with the platform's two signing keys, and the environment in which functions find it. */
async function startSigningKeys() {
  const dataDir = mkdtempSync(join(tmpdir(), 'signing-'));
  const secret = Buffer.alloc(32, 7);
  let url = '';
  const principals = new Principals(secret, () => url);
  const journal = openJournal(dataDir);
  const kms = createKmsService({ journal, masterSecret: secret });
  let requests = 0;
  const counted = {
    ...kms,
    handle: (request: Parameters<typeof kms.handle>[0]) => ((requests += 1), kms.handle(request)),
  };
  const door = await openFrontDoor({
    port: 0,
    principals,
    iam: new Iam(),
    services: [counted],
    fallback: (_request, response) => void response.writeHead(404).end(),
    upgrade: (_request, socket) => void socket.destroy(),
  });
  url = door.url;
  for (const id of KMS_KEYS) kms.createKey({ id, keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' });
  const { accessKeyId, secretAccessKey } = principals.operator();
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_KMS: url,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    OIDC_ISSUERS: '[]',
    PLATFORM_ADMINS: 'nobody',
    SIGNING_KEY_IDS: KMS_KEYS.join(','),
    TOKEN_ISSUER: ISSUER,
    TOKEN_TTL_SECONDS: String(TTL_SECONDS),
  });
  return {
    /** KMS requests so far. */
    count: () => requests,
    async stop(): Promise<void> {
      await door.close();
      journal.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The handlers of this part in this process, over real DynamoDB and KMS, at a time the test sets. */
export async function openSigningWorld() {
  const table = await startControlTable();
  const keys = await startSigningKeys();
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const TableName = process.env['CONTROL_TABLE'];
  const clock = { now: new Date('2026-11-20T12:00:00.000Z') };
  await client.send(
    new PutCommand({ TableName, Item: { pk: `PROJECT#${project.id}`, sk: 'PROJECT', ...project } }),
  );

  return {
    clock,
    requests: () => table.count(),
    indexed: () => table.indexed(),
    kmsRequests: () => keys.count(),
    pass(seconds: number): void {
      clock.now = new Date(clock.now.getTime() + seconds * 1000);
    },
    call: (endpoint: Endpoint, asked: Asked = {}): Promise<Answer> => call(endpoint, asked, clock),
    async get(key: { pk: string; sk: string }): Promise<Record<string, unknown> | undefined> {
      return (await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }))).Item;
    },
    async put(item: Record<string, unknown>): Promise<void> {
      await client.send(new PutCommand({ TableName, Item: item }));
    },
    async remove(key: { pk: string; sk: string }): Promise<void> {
      await client.send(new DeleteCommand({ TableName, Key: key }));
    },
    async items(prefix: string): Promise<Record<string, unknown>[]> {
      const { Items = [] } = await client.send(
        new ScanCommand({
          TableName,
          ConsistentRead: true,
          FilterExpression: 'begins_with(pk, :prefix)',
          ExpressionAttributeValues: { ':prefix': prefix },
        }),
      );
      return Items;
    },
    async close(): Promise<void> {
      client.destroy();
      await keys.stop();
      await table.stop();
    },
  };
}

export type SigningWorld = Awaited<ReturnType<typeof openSigningWorld>>;

interface Asked {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  /** Text is sent as it is. */
  body?: unknown;
  key?: string;
  ifMatch?: number;
  ctx?: Partial<Context>;
}

export interface Answer extends Reply {
  body: Record<string, unknown>;
}

let calls = 0;

async function call(endpoint: Endpoint, asked: Asked, clock: { now: Date }): Promise<Answer> {
  const { params = {}, query = {}, body, ifMatch } = asked;
  const request: Request = {
    route: 'TEST',
    params: { project_id: project.id, ...params },
    query,
    bodyText: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    contentType: 'application/json',
    idempotencyKey: asked.key ?? `key-${(calls += 1)}`,
    ifMatch,
    sourceIp: '127.0.0.1',
  };
  const ctx: Context = {
    ...createContext('test'),
    actor: { kind: 'user', id: 'owner' },
    grants: [{ role: 'project_admin', org_id: project.org_id }],
    project,
    now: () => clock.now,
    ...(ifMatch !== undefined && { ifMatch }),
    ...asked.ctx,
  };
  return (await endpoint.run(ctx, request)) as Answer;
}

/** The code an endpoint refuses with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'no refusal';
}
