import { randomUUID } from 'node:crypto';
import { AwsError, type AwsResponse } from '../wire/aws.ts';
import { transactionItems, type Body } from './dynamodb-access.ts';

const neverTrue = 'attribute_exists(never) AND attribute_not_exists(never)';

/**
 * Writes a transaction with an engine that answers too early, and answers when it is on disk. DynamoDB Local hands the
 * COMMIT to SQLite's thread and waits for nothing, so a transaction it acknowledged is lost, whole, if it is killed at
 * that moment or the COMMIT fails. Single writes it does wait for.
 */
export async function transact<Answer extends AwsResponse>(
  send: (transaction: Body) => Promise<Answer>,
  asked: Body,
): Promise<Answer> {
  // SDKs give a token; what comes without one needs it for the question below.
  const transaction = { ...asked, ClientRequestToken: asked['ClientRequestToken'] ?? randomUUID() };
  const answer = await send(transaction);
  if (answer.status !== 200 || isTokenTaken(await send(sameTokenOnly(transaction)))) return answer;
  // The SDK sends it again under its token, so that it happens once, whatever became of it here.
  throw new AwsError('ServiceUnavailableException', 'DynamoDB Local did not commit the transaction.', 503);
}

/**
 * Another transaction under the same token. The token is committed with the items, so this is refused for the
 * token if they are there, and for its condition if not: either way it changes nothing.
 */
function sameTokenOnly(transaction: Body): Body {
  const [[name, { TableName, Item, Key }] = ['', {}]] = transactionItems(transaction);
  const part = { TableName, ConditionExpression: neverTrue };
  const TransactItems = [name === 'Put' ? { Put: { ...part, Item } } : { ConditionCheck: { ...part, Key } }];
  return { TransactItems, ClientRequestToken: transaction['ClientRequestToken'] };
}

function isTokenTaken({ status, body }: AwsResponse): boolean {
  if (status !== 400) return false;
  const { __type = '' } = JSON.parse(String(body)) as { __type?: string };
  return __type.endsWith('#IdempotentParameterMismatchException');
}
