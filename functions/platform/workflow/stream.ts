import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Context } from '../context.ts';
import { edge, type Shape } from '../edge/edge.ts';

/** Reads the table's stream. A failed batch is delivered again as a whole, or from the record the answer names. */
export function streamConsumer(
  consume: (ctx: Context, records: DynamoDBRecord[]) => Promise<DynamoDBBatchResponse>,
) {
  return edge(STREAM, (ctx, { Records }) => consume(ctx, Records));
}

const STREAM: Shape<DynamoDBStreamEvent, DynamoDBBatchResponse> = {
  kind: 'stream',
  sent: () => ({}),
  tellError(ctx, _event, error) {
    ctx.log.error('The batch failed; it will be delivered again.', { error });
    return undefined;
  },
};
