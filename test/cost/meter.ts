// What work takes of AWS: DynamoDB says itself how many units a request took, the rest is counted.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export interface Taken {
  reads: number;
  writes: number;
  events: number;
  logBytes: number;
}

/** What Lambda itself writes into the log of each call: START, END and REPORT. */
export const LAMBDA_LOG_BYTES = 400;

interface Consumed {
  CapacityUnits?: number;
}

interface Input {
  TransactItems?: { Put?: { Item?: { pk?: string } } }[];
}

type Next = (args: { input: Input }) => Promise<{ output: { ConsumedCapacity?: Consumed | Consumed[] } }>;

export type Measure = (work: () => Promise<unknown>) => Promise<Taken>;

/** Counts what the functions of this process ask for while they do the work given, and nothing beside it. */
export function openMeter(client: DynamoDBDocumentClient): Measure {
  const measured = new AsyncLocalStorage<Taken>();
  const meter =
    (next: Next, { commandName = '' }: { commandName?: string }): Next =>
    async (args) => {
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' };
      const answer = await next({ ...args, input });
      const taken = measured.getStore();
      if (taken) add(taken, commandName, args.input, answer.output.ConsumedCapacity);
      return answer;
    };
  const stack = client.middlewareStack as unknown as { add(layer: typeof meter, options: object): void };
  stack.add(meter, { step: 'initialize', name: 'meter' });

  process.stdout.write = (chunk: string | Uint8Array) => {
    const taken = measured.getStore();
    if (taken) taken.logBytes += bytesOf(String(chunk));
    return true;
  };

  return async (work) => {
    const taken = { reads: 0, writes: 0, events: 0, logBytes: 0 };
    await measured.run(taken, work);
    return { ...taken, logBytes: Math.round(taken.logBytes / 100) * 100 };
  };
}

function add(taken: Taken, command: string, input: Input, consumed: Consumed | Consumed[] = []): void {
  const units = [consumed].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  if (/^(Get|BatchGet|Query|TransactGet)/.test(command)) taken.reads += units;
  else taken.writes += units;
  const puts = (input.TransactItems ?? []).filter(({ Put }) => Put?.Item?.pk?.startsWith('OUTBOX#'));
  taken.events += puts.length;
}

/** How long something took is not always as many digits. */
const bytesOf = (text: string): number =>
  Buffer.byteLength(text.replace(/"duration_ms":\d+/, '"duration_ms":10'));
