import {
  batchTables,
  list,
  plainName,
  tableName,
  transactionItems,
  written,
  type Body,
} from './dynamodb-access.ts';
import type { TableSchemas } from './dynamodb-schemas.ts';

export type Item = Record<string, Record<string, unknown>>;

/** An item as a request names it. */
export interface NamedItem {
  table: string;
  key: Item;
  /** Equal for the same item. */
  name: string;
}

/** The items that a request names to write or to check them, or to read them at once, in its order. */
export function itemsOf(operation: string, body: Body, schemas: TableSchemas): NamedItem[] {
  switch (operation) {
    case 'PutItem':
      return [namedItem(tableName(body), body['Item'], schemas)];
    case 'UpdateItem':
    case 'DeleteItem':
      return [namedItem(tableName(body), body['Key'], schemas)];
    case 'BatchWriteItem':
      return batchTables(body).flatMap(([table, requests]) =>
        list(requests)
          .flatMap(written)
          .map((attributes) => namedItem(plainName(table), attributes, schemas)),
      );
    case 'TransactGetItems':
    case 'TransactWriteItems':
      return transactionItems(body).map(([part, item]) =>
        namedItem(tableName(item), item[part === 'Put' ? 'Item' : 'Key'], schemas),
      );
    default:
      return [];
  }
}

/** By its key alone, whatever else is told of it. */
export function namedItem(table: string, attributes: unknown, schemas: TableSchemas): NamedItem {
  const names = schemas.of(table)?.keys ?? [];
  const all = (attributes ?? {}) as Item;
  const key = Object.fromEntries(names.map((name) => [name, all[name] ?? {}]));
  return { table, key, name: JSON.stringify([table, ...Object.values(key)]) };
}
