// EventBridge's pattern language as far as Lambda's filter criteria use it:
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html#filtering-syntax

export type Matcher = (event: unknown) => boolean;

type Scalar = string | number | boolean | null;

/** One alternative for a field. `absent` says whether it accepts an event that lacks the field. */
interface Rule {
  accepts: (value: Scalar) => boolean;
  absent: boolean;
}

/** Checks a pattern as AWS does when a filter is created, and makes it ready to use. */
export function compilePattern(pattern: unknown): Matcher {
  return compileObject(pattern, 'The pattern');
}

function compileObject(pattern: unknown, at: string): Matcher {
  if (!isObject(pattern)) throw new Error(`${at} must be an object.`);
  const clauses = Object.entries(pattern).map(([field, inner]) =>
    field === '$or' ? compileOr(inner, `${at}.$or`) : compileField(field, inner, `${at}.${field}`),
  );
  if (clauses.length === 0) throw new Error(`${at} must name at least one field.`);
  const matches = (value: unknown) => clauses.every((clause) => clause(value));
  // Of a list of objects, one must satisfy all clauses at once.
  return (value) =>
    Array.isArray(value) && value.length > 0 ? value.flat(Infinity).some(matches) : matches(value);
}

function compileOr(alternatives: unknown, at: string): Matcher {
  if (!Array.isArray(alternatives) || alternatives.length < 2) {
    throw new Error(`${at} must be a list of at least two patterns.`);
  }
  const matchers = alternatives.map((alternative, index) => compileObject(alternative, `${at}[${index}]`));
  return (event) => matchers.some((matcher) => matcher(event));
}

function compileField(field: string, inner: unknown, at: string): Matcher {
  const matcher = Array.isArray(inner) ? compileRules(inner, at) : compileObject(inner, at);
  return (event) => matcher(isObject(event) && Object.hasOwn(event, field) ? event[field] : undefined);
}

function compileRules(inner: unknown[], at: string): Matcher {
  if (inner.length === 0) throw new Error(`${at} must list at least one value.`);
  const rules = inner.map((rule, index) => compileRule(rule, `${at}[${index}]`));
  return (value) => {
    const leaves = [value].flat(Infinity).filter(isScalar);
    // An object in place of a value counts as no value: patterns see leaves alone.
    if (leaves.length === 0) return rules.some((rule) => rule.absent);
    return rules.some((rule) => leaves.some(rule.accepts));
  };
}

function compileRule(rule: unknown, at: string): Rule {
  if (isScalar(rule)) return present((value) => value === rule);
  const [entry, ...others] = isObject(rule) ? Object.entries(rule) : [];
  if (entry === undefined || others.length > 0) {
    throw new Error(`${at} must be a value or an object with a single operator.`);
  }
  const [operator, operand] = entry;
  switch (operator) {
    case 'exists':
      if (typeof operand !== 'boolean') throw new Error(`${at}.exists must be true or false.`);
      return { accepts: () => operand, absent: !operand };
    case 'numeric':
      return present(compileNumeric(operand, `${at}.numeric`));
    case 'anything-but':
      return present(compileAnythingBut(operand, `${at}.anything-but`));
    default:
      return present(compileText(operator, operand, at));
  }
}

function compileText(operator: string, operand: unknown, at: string): (value: Scalar) => boolean {
  if (operator === 'equals-ignore-case') {
    const text = asText(operand, `${at}.${operator}`).toLowerCase();
    return (value) => typeof value === 'string' && value.toLowerCase() === text;
  }
  if (operator !== 'prefix' && operator !== 'suffix')
    throw new Error(`${at} uses the unknown operator ${operator}.`);
  const ignoringCase = isObject(operand) && Object.keys(operand).join() === 'equals-ignore-case';
  const given = asText(ignoringCase ? operand['equals-ignore-case'] : operand, `${at}.${operator}`);
  const fold = (text: string) => (ignoringCase ? text.toLowerCase() : text);
  const text = fold(given);
  return (value) =>
    typeof value === 'string' &&
    (operator === 'prefix' ? fold(value).startsWith(text) : fold(value).endsWith(text));
}

function compileAnythingBut(operand: unknown, at: string): (value: Scalar) => boolean {
  if (isObject(operand)) {
    const [entry, ...others] = Object.entries(operand);
    if (entry === undefined || others.length > 0) throw new Error(`${at} must have a single operator.`);
    const [operator, texts] = entry;
    const unwanted = [texts].flat().map((text) => compileText(operator, text, at));
    if (unwanted.length === 0) throw new Error(`${at}.${operator} must list at least one value.`);
    return (value) => !unwanted.some((matches) => matches(value));
  }
  const values = [operand].flat();
  const kind = typeof values[0];
  if ((kind !== 'string' && kind !== 'number') || values.some((value) => typeof value !== kind)) {
    throw new Error(`${at} must be strings or numbers, not both, or an object with a single operator.`);
  }
  return (value) => !values.includes(value);
}

const comparisons: Record<string, (value: number, bound: number) => boolean> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

function compileNumeric(operand: unknown, at: string): (value: Scalar) => boolean {
  const parts: unknown[] = Array.isArray(operand) ? operand : [];
  const bounds: [string, number][] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const [operator, bound] = parts.slice(index, index + 2);
    if (typeof operator !== 'string' || !Object.hasOwn(comparisons, operator) || typeof bound !== 'number') {
      throw new Error(`${at} must be pairs of =, <, <=, > or >= and a number.`);
    }
    bounds.push([operator, bound]);
  }
  const [low, high, ...more] = bounds;
  const isRange = low?.[0].startsWith('>') && high?.[0].startsWith('<') && low[1] < high[1];
  if (low === undefined || more.length > 0 || (high !== undefined && !isRange)) {
    throw new Error(`${at} must be one comparison, or a lower bound and a higher upper bound in that order.`);
  }
  return (value) =>
    typeof value === 'number' &&
    bounds.every(([operator, bound]) => comparisons[operator]?.(value, bound) === true);
}

function present(accepts: (value: Scalar) => boolean): Rule {
  return { accepts, absent: false };
}

function asText(operand: unknown, at: string): string {
  if (typeof operand !== 'string' || operand === '')
    throw new Error(`${at} must be a string that is not empty.`);
  return operand;
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
