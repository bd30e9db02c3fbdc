import { fault, type Answer } from './dynamodb-answers.ts';
import type { Body } from './dynamodb-access.ts';

const PLACEHOLDER = /[#:]\w+/g;

/** Names and values that stand for nothing: AWS refuses them, and not every engine does. */
export function misused(operation: string, body: Body): Answer | undefined {
  const parts =
    operation.startsWith('Transact') && Array.isArray(body['TransactItems'])
      ? body['TransactItems'].flatMap((item: object) => Object.values(item) as Body[])
      : [body];
  const [message] = parts.flatMap(faultsOf);
  return message === undefined ? undefined : fault('ValidationException', message);
}

function faultsOf(part: Body): string[] {
  const expressions = Object.entries(part).flatMap(([name, value]) =>
    name.endsWith('Expression') && typeof value === 'string' ? [value] : [],
  );
  const used = new Set(expressions.flatMap((text) => text.match(PLACEHOLDER) ?? []));
  return ['ExpressionAttributeNames', 'ExpressionAttributeValues'].flatMap((member) => {
    const given = part[member];
    if (typeof given !== 'object' || given === null) return [];
    const keys = Object.keys(given);
    if (keys.length === 0) return [`${member} must not be empty`];
    const unused = keys.filter((key) => !used.has(key));
    return unused.length === 0
      ? []
      : [`Value provided in ${member} unused in expressions: keys: {${unused.join(', ')}}`];
  });
}
