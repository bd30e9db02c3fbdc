import {
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBServiceException,
  ScanCommand,
  type AttributeValue,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { say } from '../wire/say.ts';

const PERIOD_SECONDS = 30;
/** What expired longer ago is left alone, on AWS too: it is rather a mistake than a date. */
const EXPIRED_SECONDS_MAX = 5 * 365 * 24 * 60 * 60;

type Key = Record<string, AttributeValue>;

/**
 * Time to live. DynamoDB Local's own never deletes items that lack an index key and gives the stream an event
 * name AWS does not have, so expired items are deleted from here: at leisure, as AWS promises no more.
 */
export class Expiry {
  #dynamodb: DynamoDBClient;
  #attributes = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #stopping = new AbortController();

  constructor(dynamodb: DynamoDBClient) {
    this.#dynamodb = dynamodb;
  }

  /** Table → the attribute that says when its items expire, in seconds since 1970. */
  replace(attributes: Map<string, string>): void {
    this.#attributes = attributes;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep(), PERIOD_SECONDS * 1000).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#sweeping;
  }

  /** One at a time: whoever asks during a sweep waits for that one. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async #sweepAll(): Promise<void> {
    for (const [tableName, attribute] of this.#attributes) {
      try {
        await this.#sweepTable(tableName, attribute);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        const { message } = error as Error;
        say('expiry', `${tableName} could not be swept, the next sweep tries again: ${message}`);
      }
    }
  }

  async #sweepTable(TableName: string, attribute: string): Promise<void> {
    const send = { abortSignal: this.#stopping.signal };
    const { Table } = await this.#dynamodb.send(new DescribeTableCommand({ TableName }), send);
    const keyNames = new Set(Table?.KeySchema?.map((part) => part.AttributeName));
    const now = Math.floor(Date.now() / 1000);
    const condition = '#expiry BETWEEN :oldest AND :now';
    const expired = {
      ExpressionAttributeNames: { '#expiry': attribute },
      ExpressionAttributeValues: {
        ':now': { N: String(now) },
        ':oldest': { N: String(now - EXPIRED_SECONDS_MAX) },
      },
    };
    let ExclusiveStartKey: Key | undefined;
    do {
      const page = await this.#dynamodb.send(
        new ScanCommand({ TableName, FilterExpression: condition, ExclusiveStartKey, ...expired }),
        send,
      );
      for (const item of page.Items ?? []) {
        const Key = Object.fromEntries(Object.entries(item).filter(([name]) => keyNames.has(name)));
        // Again as a condition: the item may have been given more time since it was read.
        const command = new DeleteItemCommand({ TableName, Key, ConditionExpression: condition, ...expired });
        await this.#dynamodb.send(command, send).catch(ignoreChanged);
      }
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
  }
}

function ignoreChanged(error: unknown): void {
  if (!(error instanceof DynamoDBServiceException) || error.name !== 'ConditionalCheckFailedException')
    throw error;
}
