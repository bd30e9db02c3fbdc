import type { Roughness } from '../wire/roughness.ts';
import { batchTables, list, transactionItems, type Body } from './dynamodb-access.ts';
import { answer, cancelled, fault, parseAnswer, type Answer } from './dynamodb-answers.ts';

const BUSY =
  'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.';

const throttled = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'BatchGetItem',
  'BatchWriteItem',
  'TransactGetItems',
  'TransactWriteItems',
]);

/**
 * The answer to a request for which there is no capacity at the moment. An SDK tries again by itself, except where a
 * transaction was cancelled.
 */
export function throttle(operation: string, body: Body, happens: Roughness): Answer | undefined {
  if (!throttled.has(operation) || !happens('throttled')) return undefined;
  if (operation.startsWith('Transact') && happens('cancelled')) {
    const parts = transactionItems(body);
    return cancelled(
      parts.map((_, n) => (n === parts.length - 1 ? { Code: 'ThrottlingError', Message: BUSY } : undefined)),
    );
  }
  return happens('exceeded')
    ? fault('ProvisionedThroughputExceededException', BUSY)
    : fault('ThrottlingException', BUSY);
}

/** Which of so many requests in a batch are left for another time: not all, or AWS would throttle it whole. */
export function leftOver(count: number, happens: Roughness): (n: number) => boolean {
  if (count < 2 || !happens('unprocessed')) return () => false;
  const left = Array.from({ length: count }, (_, n) => n === count - 1 || (n > 0 && happens('left')));
  return (n) => left[n] === true;
}

/** Sends a batch without some of its requests, and tells of these that they were not processed. */
export async function sendInPart(
  operation: 'BatchGetItem' | 'BatchWriteItem',
  body: Body,
  isLeft: (n: number) => boolean,
  send: (body: Body) => Promise<Answer>,
): Promise<Answer> {
  const isRead = operation === 'BatchGetItem';
  const asked: Body = {};
  const left: Body = {};
  let n = 0;
  for (const [table, requests] of batchTables(body)) {
    const split = Object.groupBy(list(isRead ? (requests as Body)['Keys'] : requests), () =>
      isLeft(n++) ? 'left' : 'asked',
    );
    const inItsForm = (some: unknown[]) => (isRead ? { ...(requests as Body), Keys: some } : some);
    if (split.asked) asked[table] = inItsForm(split.asked);
    if (split.left) left[table] = inItsForm(split.left);
  }
  if (Object.keys(left).length === 0) return send(body);
  const unprocessed = isRead ? 'UnprocessedKeys' : 'UnprocessedItems';
  if (Object.keys(asked).length === 0) return answer({ [unprocessed]: left });
  const given = await send({ ...body, RequestItems: asked });
  return given.status === 200 ? answer({ ...parseAnswer(given), [unprocessed]: left }) : given;
}

/** How many requests a batch holds. */
export function batchSize(operation: string, body: Body): number {
  const requests = batchTables(body).flatMap(([, each]) =>
    list(operation === 'BatchGetItem' ? (each as Body)['Keys'] : each),
  );
  return requests.length;
}
