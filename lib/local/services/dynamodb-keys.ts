import type { TableSchemas } from './dynamodb-schemas.ts';

type AttributeValue = Record<string, unknown>;

/** Partition keys by table and index, needed to tell IAM which `dynamodb:LeadingKeys` a request touches. */
export class PartitionKeys {
  #schemas: TableSchemas;

  constructor(schemas: TableSchemas) {
    this.#schemas = schemas;
  }

  /** The value of the partition key in a key or an item. */
  valueIn(attributes: unknown, table: string, index?: string): string | undefined {
    const name = this.#nameIn(table, index);
    if (name === undefined || typeof attributes !== 'object' || attributes === null) return undefined;
    return scalar((attributes as Record<string, AttributeValue>)[name]);
  }

  /** The value a query asks the partition key to equal. */
  valueInQuery(query: Record<string, unknown>, table: string): string | undefined {
    const index = typeof query['IndexName'] === 'string' ? query['IndexName'] : undefined;
    const key = this.#nameIn(table, index);
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

  #nameIn(table: string, index: string | undefined): string | undefined {
    const schema = this.#schemas.of(table);
    return (index === undefined ? schema : schema?.indexes.get(index))?.keys[0];
  }
}

function scalar(value: AttributeValue | undefined): string | undefined {
  const text = value?.['S'] ?? value?.['N'] ?? value?.['B'];
  return typeof text === 'string' ? text : undefined;
}
