/** The part of a DescribeTable answer that says which attribute comes first in each key. */
interface TableDescription {
  KeySchema?: KeyElement[];
  GlobalSecondaryIndexes?: { IndexName: string; KeySchema: KeyElement[] }[];
  LocalSecondaryIndexes?: { IndexName: string; KeySchema: KeyElement[] }[];
}

interface KeyElement {
  AttributeName: string;
  KeyType: 'HASH' | 'RANGE';
}

type AttributeValue = Record<string, unknown>;

/**
 * Partition keys by table and index, needed to tell IAM which `dynamodb:LeadingKeys` a request touches.
 * Learnt from the engine on first use.
 */
export class PartitionKeys {
  #byTable = new Map<string, Map<string | undefined, string>>();
  #describe: (table: string) => Promise<unknown>;

  constructor(describe: (table: string) => Promise<unknown>) {
    this.#describe = describe;
  }

  /** Again for an index that is not known: it may have been added since. */
  async learn(tables: string[], index?: string): Promise<void> {
    const unknown = tables.filter((table) => !this.#byTable.get(table)?.has(index));
    await Promise.all(unknown.map((table) => this.#learnTable(table)));
  }

  forget(table: string): void {
    this.#byTable.delete(table);
  }

  /** The value of the partition key in a key or an item. */
  valueIn(attributes: unknown, table: string, index?: string): string | undefined {
    const name = this.#byTable.get(table)?.get(index);
    if (name === undefined || typeof attributes !== 'object' || attributes === null) return undefined;
    return scalar((attributes as Record<string, AttributeValue>)[name]);
  }

  /** The value a query asks the partition key to equal. */
  valueInQuery(query: Record<string, unknown>, table: string): string | undefined {
    const index = typeof query['IndexName'] === 'string' ? query['IndexName'] : undefined;
    const key = this.#byTable.get(table)?.get(index);
    if (key === undefined) return undefined;
    const legacy = query['KeyConditions'] as
      Record<string, { AttributeValueList?: AttributeValue[] }> | null | undefined;
    if (legacy) return scalar(legacy[key]?.AttributeValueList?.[0]);
    const names = (query['ExpressionAttributeNames'] ?? {}) as Record<string, string>;
    const values = (query['ExpressionAttributeValues'] ?? {}) as Record<string, AttributeValue>;
    const expression = query['KeyConditionExpression'];
    if (typeof expression !== 'string') return undefined;
    const equalities = expression.matchAll(/([#:]?[\w.-]+)\s*=\s*([#:]?[\w.-]+)/g);
    for (const [, left = '', right = ''] of equalities) {
      const [attribute, value] = left.startsWith(':') ? [right, left] : [left, right];
      if ((names[attribute] ?? attribute) === key) return scalar(values[value]);
    }
    return undefined;
  }

  async #learnTable(table: string): Promise<void> {
    const description = (await this.#describe(table)) as TableDescription | undefined;
    if (description?.KeySchema === undefined) return;
    const indexes = [
      ...(description.GlobalSecondaryIndexes ?? []),
      ...(description.LocalSecondaryIndexes ?? []),
    ];
    const keys = new Map<string | undefined, string>([[undefined, partitionKey(description.KeySchema)]]);
    for (const { IndexName, KeySchema } of indexes) keys.set(IndexName, partitionKey(KeySchema));
    this.#byTable.set(table, keys);
  }
}

function partitionKey(schema: KeyElement[]): string {
  return schema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? '';
}

function scalar(value: AttributeValue | undefined): string | undefined {
  const text = value?.['S'] ?? value?.['N'] ?? value?.['B'];
  return typeof text === 'string' ? text : undefined;
}
