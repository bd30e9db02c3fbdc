import type { Body } from '../../../lib/local/services/dynamodb-access.ts';
import type { Answer } from '../../../lib/local/services/dynamodb-answers.ts';
import { LATE_MS } from '../../../lib/local/services/dynamodb-late-indexes.ts';
import { TableSchemas, type TableDescription } from '../../../lib/local/services/dynamodb-schemas.ts';
import { StrictDynamoDb } from '../../../lib/local/services/dynamodb-strict.ts';
import { forward } from '../../../lib/local/wire/forward.ts';
import { SMOOTH, type Hardship } from '../../../lib/local/wire/roughness.ts';
import { createControlTable } from '../../control-table.ts';
import { openDynamoDb } from '../../dynamodb.ts';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** A strict DynamoDB over a real engine, whose answers can be held back. */
export async function openStrictWorld() {
  const engine = await openDynamoDb();
  const TableName = engine.table;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: engine.url, region: 'us-east-1', credentials });
  await createControlTable(TableName, client);

  const send = async (operation: string, body: Body): Promise<Answer> =>
    forward(
      { ...engine, secondsMax: 30 },
      {
        method: 'POST',
        path: '/',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
          'x-amz-date': '20000101T000000Z',
          authorization:
            'AWS4-HMAC-SHA256 Credential=test/20000101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
        },
        body: JSON.stringify(body),
      },
    );
  const schemas = new TableSchemas(async (table) => {
    const { body } = await send('DescribeTable', { TableName: table });
    return (JSON.parse(body.toString('utf8')) as { Table?: TableDescription }).Table;
  });

  const open = (happens = SMOOTH) => {
    let nowMs = 0;
    const strict = new StrictDynamoDb(schemas, happens, () => nowMs);
    const ask = async (operation: string, body: Body, before?: Promise<void>): Promise<Told> => {
      const told = await strict.answer(operation, body, async (name, sent) => {
        await before;
        return send(name, sent);
      });
      return { ...(JSON.parse(told.body.toString('utf8')) as Told), status: told.status };
    };
    return {
      strict,
      ask,
      /** Lets the indexes see what was written. */
      catchUp: () => void (nowMs += LATE_MS),
      /** Asks, and lets the engine know only when it is told to go on. */
      hold: async (operation: string, body: Body): Promise<{ end: () => Promise<Told> }> => {
        const { promise, resolve } = Promise.withResolvers<void>();
        await schemas.learn([TableName]);
        const told = ask(operation, body, promise);
        // The keys are known: by the next turn it is on its way.
        await new Promise(setImmediate);
        return { end: () => (resolve(), told) };
      },
    };
  };
  return {
    TableName,
    open,
    /** Where only this happens, and always. */
    openWith: (...hardships: Hardship[]) => open((what) => hardships.includes(what)),
    close: () => engine.close(),
  };
}

export interface Told {
  status: number;
  __type?: string;
  CancellationReasons?: { Code: string }[];
  Items?: Row[];
  LastEvaluatedKey?: Row;
  Responses?: Record<string, Row[]>;
  UnprocessedKeys?: Record<string, { Keys: Row[] }>;
  UnprocessedItems?: Record<string, object[]>;
}

export type Row = Record<string, { S: string }>;

/** The name of an error, without its namespace; of what went well, nothing. */
export const faultOf = ({ __type }: Told): string | undefined => __type?.split('#')[1];

export const reasonsOf = ({ CancellationReasons = [] }: Told): string[] =>
  CancellationReasons.map(({ Code }) => Code);
