import { hash } from 'node:crypto';
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { importJWK, type JWTPayload, jwtVerify } from 'jose';
import { dynamo } from '../../functions/platform/clients.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { TokenIssuer } from '../platform/token-issuer.ts';

export type Handler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

export interface BareHandlers {
  read: Handler;
  /** As `read`, for anybody. */
  readUnasked: Handler;
  rename: Handler;
}

interface StoredProject extends Record<string, unknown> {
  id: string;
  org_id: string;
  version: number;
}

/** Reading and renaming a project with nothing around it: no rights, no limits, no checked input, no log. */
export async function makeBareHandlers(issuer: TokenIssuer): Promise<BareHandlers> {
  const key = await importJWK(issuer.publicKey().export({ format: 'jwk' }), 'ES256');
  const { issuer: name, audience } = issuer.config;
  const expected = { issuer: name, audience, algorithms: ['ES256'], typ: 'at+jwt' };
  const table = process.env['CONTROL_TABLE'];

  async function verify({ headers }: APIGatewayProxyEventV2): Promise<JWTPayload> {
    return (await jwtVerify(headers['authorization']?.slice('Bearer '.length) ?? '', key, expected)).payload;
  }

  async function get({ pathParameters }: APIGatewayProxyEventV2): Promise<StoredProject> {
    const projectKey = { pk: `PROJECT#${pathParameters?.['project_id']}`, sk: 'PROJECT' };
    const { Item } = await dynamo().send(
      new GetCommand({ TableName: table, Key: projectKey, ConsistentRead: true }),
    );
    return Item as StoredProject;
  }

  const readUnasked: Handler = async (event) => answer(JSON.stringify(await get(event)));

  return {
    readUnasked,
    async read(event) {
      await verify(event);
      return readUnasked(event);
    },
    async rename(event) {
      const { sub, email } = await verify(event);
      const { name } = JSON.parse(event.body ?? '') as { name: string };
      const before = await get(event);
      const after = { ...before, name, version: before.version + 1 };
      const body = JSON.stringify(after);
      await dynamo().send(
        new TransactWriteCommand({
          TransactItems: renameWrites(table, event, { before, after, body, actor: `user:${sub}`, email }),
        }),
      );
      return answer(body);
    },
  };
}

const answer = (body: string): APIGatewayProxyStructuredResultV2 => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body,
});

/** The same four writes: the project, the audit row, the event, the receipt. */
function renameWrites(
  TableName: string | undefined,
  { headers, body: sent = '' }: APIGatewayProxyEventV2,
  change: { before: StoredProject; after: StoredProject; body: string; actor: string; email: unknown },
) {
  const { before, after, body, actor, email } = change;
  const { id: project_id, org_id } = before;
  const at = new Date().toISOString();
  const now = Math.floor(Date.now() / 1000);
  const [auditId, eventId] = [newId(), newId()];
  const about = { actor, correlation_id: headers['x-request-id'], org_id, project_id };
  const data = { org_id, project_id, name: after['name'], description: after['description'] };
  const ConditionExpression = 'attribute_not_exists(pk)';
  return [
    {
      Update: {
        TableName,
        Key: { pk: `PROJECT#${project_id}`, sk: 'PROJECT' },
        UpdateExpression: 'SET #name = :name, description = :description, version = :after',
        ConditionExpression: 'version = :before',
        ExpressionAttributeNames: { '#name': 'name' },
        ExpressionAttributeValues: {
          ':name': after['name'],
          ':description': after['description'],
          ':after': after.version,
          ':before': before.version,
        },
      },
    },
    {
      Put: {
        TableName,
        Item: {
          pk: `AUDIT#${project_id}`,
          sk: auditId,
          id: auditId,
          at,
          ...about,
          actor_email: email,
          action: 'identity.project.rename',
          subject: `project:${project_id}`,
          before,
          after,
          source_ip: '192.0.2.1',
          gsi1pk: `AUDIT#MONTH#${at.slice(0, 7)}`,
          gsi1sk: auditId,
        },
        ConditionExpression,
      },
    },
    {
      Put: {
        TableName,
        Item: {
          pk: `OUTBOX#${project_id}`,
          sk: eventId,
          kind: 'event',
          event: {
            type: 'identity.project.renamed',
            version: 1,
            data,
            event_id: eventId,
            occurred_at: at,
            ...about,
          },
          expires_at: now + 7 * 24 * 3600,
        },
        ConditionExpression,
      },
    },
    {
      Put: {
        TableName,
        Item: {
          pk: `RECEIPT#${hash('sha256', `${actor}\n${headers['x-idempotency-key']}`)}`,
          sk: 'RECEIPT',
          fingerprint: hash('sha256', sent),
          status: 200,
          headers: { etag: `"${after.version}"` },
          body,
          expires_at: now + 24 * 3600,
        },
        ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
        ExpressionAttributeValues: { ':now': now },
      },
    },
  ];
}
