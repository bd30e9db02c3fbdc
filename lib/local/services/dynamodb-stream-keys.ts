import { parseAnswer, type Answer } from './dynamodb-answers.ts';
import type { TableSchemas } from './dynamodb-schemas.ts';

/** The description of a stream with the key of its table, which AWS tells and not every engine does. */
export async function withKeySchema(answer: Answer, schemas: TableSchemas): Promise<Answer> {
  if (answer.status !== 200) return answer;
  const { StreamDescription } = parseAnswer(answer) as { StreamDescription: { TableName: string } };
  const table = StreamDescription.TableName;
  await schemas.learn([table]);
  const KeySchema = schemas
    .of(table)
    ?.keys.map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? 'HASH' : 'RANGE' }));
  const body = { StreamDescription: { KeySchema, ...StreamDescription } };
  return { ...answer, body: Buffer.from(JSON.stringify(body)) };
}
