import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { dynamo } from '../functions/platform/clients.ts';

interface Action {
  Item?: Record<string, unknown>;
  Key?: Record<string, unknown>;
}

const NAME = 'conflictLikeAws';

/**
 * What the local engines do not do: of two transactions that name one item at once, be it only to check it, AWS
 * cancels one. From now on it is so here too; answers with how often it was, when it is to end.
 */
export function conflictLikeAws(): { end(): number } {
  const underWay = new Set<string>();
  let conflicts = 0;
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'TransactWriteItemsCommand') return next(args);
        const items = itemsOf(args.input as { TransactItems: Record<string, Action>[] });
        const isMet = items.map((item) => underWay.has(item));
        if (isMet.includes(true)) {
          conflicts += 1;
          throw new TransactionCanceledException({
            message: 'Transaction cancelled, please refer cancellation reasons for specific reasons',
            $metadata: { httpStatusCode: 400 },
            CancellationReasons: isMet.map((met) => ({ Code: met ? 'TransactionConflict' : 'None' })),
          });
        }
        for (const item of items) underWay.add(item);
        try {
          return await next(args);
        } finally {
          for (const item of items) underWay.delete(item);
        }
      },
    { step: 'initialize', name: NAME },
  );
  return {
    end() {
      dynamo().middlewareStack.remove(NAME);
      return conflicts;
    },
  };
}

const itemsOf = ({ TransactItems }: { TransactItems: Record<string, Action>[] }): string[] =>
  TransactItems.flatMap((each) => Object.values(each)).map(({ Item, Key }) => {
    const { pk, sk } = Item ?? Key ?? {};
    return JSON.stringify([pk, sk]);
  });
