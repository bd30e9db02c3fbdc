import type { Body } from './dynamodb-access.ts';
import type { Item } from './dynamodb-items.ts';

/** Only these can be in a key. */
interface AttributeValue {
  S?: string;
  B?: string;
  N?: string;
}

/** What an item is sorted by in an index: the index's own keys, then the table's. */
export type Position = AttributeValue[];

const NAME = String.raw`[#\w.]+`;
const VALUE = String.raw`:\w+`;
const conditions = new RegExp(
  [
    String.raw`begins_with\s*\(\s*(?<begins>${NAME})\s*,\s*(?<prefix>${VALUE})\s*\)`,
    String.raw`(?<between>${NAME})\s+between\s+(?<low>${VALUE})\s+and\s+(?<high>${VALUE})`,
    String.raw`(?<left>[#:\w.]+)\s*(?<sign><=|>=|=|<|>)\s*(?<right>[#:\w.]+)`,
  ].join('|'),
  'gi',
);

/** Whether the item is among those that a query's key condition asks for. */
export function matchesKeyCondition(query: Body, item: Item): boolean {
  const names = (query['ExpressionAttributeNames'] ?? {}) as Record<string, string>;
  const values = (query['ExpressionAttributeValues'] ?? {}) as Record<string, AttributeValue>;
  const valueOf = (operand = ''): AttributeValue =>
    (operand.startsWith(':') ? values[operand] : item[names[operand] ?? operand]) ?? {};
  const found = [...String(query['KeyConditionExpression']).matchAll(conditions)];
  return found.every(({ groups = {} }) => {
    if (groups['begins'] !== undefined) {
      return textOf(valueOf(groups['begins'])).startsWith(textOf(valueOf(groups['prefix'])));
    }
    if (groups['between'] !== undefined) {
      const value = valueOf(groups['between']);
      return compare(value, valueOf(groups['low'])) >= 0 && compare(value, valueOf(groups['high'])) <= 0;
    }
    return holds(groups['sign'], compare(valueOf(groups['left']), valueOf(groups['right'])));
  });
}

/** Less than zero if `a` comes first. */
export function comparePositions(a: Position, b: Position): number {
  const differences = a.map((value, n) => compare(value, b[n] ?? {}));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function holds(sign: string | undefined, difference: number): boolean {
  switch (sign) {
    case '<':
      return difference < 0;
    case '<=':
      return difference <= 0;
    case '>':
      return difference > 0;
    case '>=':
      return difference >= 0;
    default:
      return difference === 0;
  }
}

/** Numbers by their size, anything else by its bytes. */
function compare(a: AttributeValue, b: AttributeValue): number {
  if (a.N !== undefined && b.N !== undefined) return Number(a.N) - Number(b.N);
  return Buffer.compare(bytesOf(a), bytesOf(b));
}

const textOf = ({ S, B, N }: AttributeValue): string => S ?? B ?? N ?? '';

const bytesOf = (value: AttributeValue): Buffer =>
  Buffer.from(textOf(value), value.B === undefined ? 'utf8' : 'base64');
