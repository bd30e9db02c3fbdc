import { AwsError } from '../wire/aws.ts';
import type { Functions, Invocation } from '../lambda/functions.ts';

/** What one invocation may carry, with room for the envelope around the records. */
const BATCH_BYTES_MAX = 6 * 1024 * 1024 - 1024;

export type BatchOutcome =
  | { kind: 'done' }
  /** The function saw the batch and failed these; `whole` when it did not say which. */
  | { kind: 'failed'; ids: Set<string>; whole: boolean }
  /** The function never saw it: throttled, being replaced, stopping. */
  | { kind: 'refused'; error: AwsError };

/** How many of the first records fit into one invocation: at least one. */
export function fittingCount(records: unknown[], batchSize: number): number {
  let bytes = 0;
  let count = 0;
  for (const record of records.slice(0, batchSize)) {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    if (count > 0 && bytes > BATCH_BYTES_MAX) break;
    count++;
  }
  return count;
}

export async function invokeWithBatch(
  functions: Functions,
  options: { functionArn: string; reportBatchItemFailures: boolean; requestId: string },
  records: unknown[],
  ids: string[],
): Promise<BatchOutcome> {
  const event = Buffer.from(JSON.stringify({ Records: records }));
  let invocation: Invocation;
  try {
    invocation = await functions.invoke(options.functionArn, event, options.requestId);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return { kind: 'refused', error };
  }
  if (!invocation.ok) return { kind: 'failed', ids: new Set(ids), whole: true };
  if (!options.reportBatchItemFailures) return { kind: 'done' };
  const failed = reportedFailures(invocation.payload, ids);
  if (failed === undefined) return { kind: 'failed', ids: new Set(ids), whole: true };
  return failed.size === 0 ? { kind: 'done' } : { kind: 'failed', ids: failed, whole: false };
}

/**
 * Nothing when the answer can't be understood, which fails the whole batch:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
 */
export function reportedFailures(payload: Buffer, ids: string[]): Set<string> | undefined {
  const answer = JSON.parse(payload.toString('utf8')) as unknown;
  if (answer === null) return new Set();
  if (typeof answer !== 'object') return undefined;
  const items = (answer as { batchItemFailures?: unknown }).batchItemFailures ?? [];
  if (!Array.isArray(items)) return undefined;
  const failed = items.map((item: { itemIdentifier?: string } | null) => item?.itemIdentifier ?? '');
  return failed.every((id) => ids.includes(id)) ? new Set(failed) : undefined;
}
