/** The part of a DescribeTable answer that says which attributes make a key. */
export interface TableDescription {
  KeySchema?: KeyElement[];
  GlobalSecondaryIndexes?: IndexDescription[];
  LocalSecondaryIndexes?: IndexDescription[];
}

interface IndexDescription {
  IndexName?: string;
  KeySchema?: KeyElement[];
  Projection?: { ProjectionType?: string };
}

interface KeyElement {
  AttributeName?: string;
  KeyType?: string;
}

/** Names of attributes, the partition's first. */
type KeyNames = string[];

export interface TableSchema {
  keys: KeyNames;
  indexes: Map<string, IndexSchema>;
}

export interface IndexSchema {
  keys: KeyNames;
  /** It has a life of its own, and comes after its table. */
  isGlobal: boolean;
  /** It has all attributes of an item. */
  isWhole: boolean;
}

/** The keys of tables and their indexes, learnt from the engine on first use. */
export class TableSchemas {
  #byTable = new Map<string, TableSchema>();
  #describe: (table: string) => Promise<TableDescription | undefined>;

  constructor(describe: (table: string) => Promise<TableDescription | undefined>) {
    this.#describe = describe;
  }

  /** Again for an index that is not known: it may have been added since. */
  async learn(tables: string[], index?: string): Promise<void> {
    const isKnown = (schema: TableSchema | undefined) =>
      schema !== undefined && (index === undefined || schema.indexes.has(index));
    const unknown = tables.filter((table) => !isKnown(this.#byTable.get(table)));
    await Promise.all(unknown.map((table) => this.#learnTable(table)));
  }

  forget(table: string): void {
    this.#byTable.delete(table);
  }

  of(table: string): TableSchema | undefined {
    return this.#byTable.get(table);
  }

  async #learnTable(table: string): Promise<void> {
    const description = await this.#describe(table);
    if (description?.KeySchema === undefined) return;
    const { GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] } = description;
    const indexes = [
      ...GlobalSecondaryIndexes.map((index) => indexSchema(index, true)),
      ...LocalSecondaryIndexes.map((index) => indexSchema(index, false)),
    ];
    this.#byTable.set(table, { keys: keyNames(description.KeySchema), indexes: new Map(indexes) });
  }
}

function indexSchema(
  { IndexName = '', KeySchema = [], Projection }: IndexDescription,
  isGlobal: boolean,
): [string, IndexSchema] {
  const isWhole = Projection?.ProjectionType === 'ALL';
  return [IndexName, { keys: keyNames(KeySchema), isGlobal, isWhole }];
}

function keyNames(schema: KeyElement[]): KeyNames {
  const partitionFirst = schema.toSorted((a) => (a.KeyType === 'HASH' ? -1 : 1));
  return partitionFirst.map(({ AttributeName = '' }) => AttributeName);
}
