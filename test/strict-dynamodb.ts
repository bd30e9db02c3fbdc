import { Readable } from 'node:stream';
import {
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Body } from '../lib/local/services/dynamodb-access.ts';
import type { Answer } from '../lib/local/services/dynamodb-answers.ts';
import { TableSchemas } from '../lib/local/services/dynamodb-schemas.ts';
import { StrictDynamoDb } from '../lib/local/services/dynamodb-strict.ts';
import type { Roughness } from '../lib/local/wire/roughness.ts';

interface WireRequest {
  headers: Record<string, string>;
  body: string | Uint8Array;
}

interface WireResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
}

/**
 * A client that talks to the engine itself meets what one at the front door does. `plain` asks the engine about its
 * tables.
 */
export function beStrict(
  client: DynamoDBDocumentClient,
  plain: Pick<DynamoDBClient, 'send'>,
  happens: Roughness,
): StrictDynamoDb {
  const schemas = new TableSchemas(async (TableName) => {
    const described = plain.send(new DescribeTableCommand({ TableName }));
    return described.then(({ Table }) => Table).catch(unlessThere);
  });
  const strict = new StrictDynamoDb(schemas, happens);
  client.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as WireRequest;
      const [version = '', operation = ''] = request.headers['x-amz-target']?.split('.') ?? [];
      const asked = JSON.parse(textOf(request.body)) as Body;
      const { status, headers, body } = await strict.answer(operation, asked, async (name, sent) => {
        const wire = JSON.stringify(sent);
        const target = {
          'x-amz-target': `${version}.${name}`,
          'content-length': String(Buffer.byteLength(wire)),
        };
        // A copy: what failed is sent again as it came.
        const copy = { ...request, body: wire, headers: { ...request.headers, ...target } };
        const { response } = await next({ ...args, request: copy });
        return answerOf(response as WireResponse);
      });
      const response = { statusCode: status, headers: headers ?? {}, body: Readable.from([body]) };
      return { response };
    },
    // The last before the wire, so that every attempt comes by.
    { step: 'deserialize', priority: 'low', name: 'beStrict', override: true },
  );
  return strict;
}

const textOf = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body);

/** Of a table that is not there the engine tells by itself. */
function unlessThere(error: unknown): undefined {
  if (!(error instanceof ResourceNotFoundException)) throw error;
}

async function answerOf({ statusCode, headers, body }: WireResponse): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { status: statusCode, headers, body: Buffer.concat(chunks) };
}
