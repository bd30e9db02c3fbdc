import type { Roughness } from '../wire/roughness.ts';
import { tablesTouched, type Body } from './dynamodb-access.ts';
import type { Answer } from './dynamodb-answers.ts';
import { InFlight } from './dynamodb-conflicts.ts';
import { misused } from './dynamodb-expressions.ts';
import { itemsOf } from './dynamodb-items.ts';
import { LateIndexes, type Send } from './dynamodb-late-indexes.ts';
import { batchSize, leftOver, sendInPart, throttle } from './dynamodb-rough.ts';
import type { TableSchemas } from './dynamodb-schemas.ts';

/**
 * What AWS does and the engines do not. Transactions that meet are always refused; what AWS does only now and then is
 * left to a roughness.
 */
export class StrictDynamoDb {
  #schemas: TableSchemas;
  #happens: Roughness;
  #inFlight = new InFlight();
  #indexes: LateIndexes;

  constructor(schemas: TableSchemas, happens: Roughness, nowMs = () => performance.now()) {
    this.#schemas = schemas;
    this.#happens = happens;
    this.#indexes = new LateIndexes(schemas, happens, nowMs);
  }

  /** How often somebody met a transaction. */
  get conflicts(): number {
    return this.#inFlight.conflicts;
  }

  /** Whether there is a write that some index does not show yet. */
  get isBehind(): boolean {
    return this.#indexes.isBehind;
  }

  /** Answers a request in its wire form, with what `send` gets from the engine. */
  async answer(operation: string, body: Body, send: Send): Promise<Answer> {
    const tables = tablesTouched(operation, body);
    const index = typeof body['IndexName'] === 'string' ? body['IndexName'] : undefined;
    await this.#schemas.learn(tables, index);
    // What is not there, or not well-formed, the engine refuses by itself.
    if (tables.some((table) => this.#schemas.of(table) === undefined)) return send(operation, body);
    return (
      misused(operation, body) ??
      throttle(operation, body, this.#happens) ??
      this.#pass(operation, body, send)
    );
  }

  async #pass(operation: string, body: Body, send: Send): Promise<Answer> {
    const items = itemsOf(operation, body, this.#schemas);
    const write = (): Promise<Answer> => this.#indexes.write(items, send, () => send(operation, body));
    switch (operation) {
      case 'TransactWriteItems':
        return this.#inFlight.transaction(body['ClientRequestToken'], items, write);
      case 'TransactGetItems':
        return this.#inFlight.readAtOnce(items, () => send(operation, body));
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return this.#inFlight.write(items, write);
      case 'BatchWriteItem': {
        const isOver = leftOver(batchSize(operation, body), this.#happens);
        return this.#inFlight.batch(items, (isMet) => {
          const isLeft = items.map((item, n) => isMet(item) || isOver(n));
          const sent = items.filter((_, n) => !isLeft[n]);
          return sendInPart(
            operation,
            body,
            (n) => isLeft[n] === true,
            (part) => this.#indexes.write(sent, send, () => send(operation, part)),
          );
        });
      }
      case 'BatchGetItem': {
        const isLeft = leftOver(batchSize(operation, body), this.#happens);
        return sendInPart(operation, body, isLeft, (part) => send(operation, part));
      }
      case 'Query':
        return this.#indexes.query(body, send);
      default:
        return send(operation, body);
    }
  }
}
