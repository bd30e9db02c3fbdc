/**
 * What AWS would refuse when a policy is stored, and what cannot be judged here. The simulator reads on regardless: it
 * takes a resource that is no ARN for one that matches everything.
 */
export function policyProblem(policy: unknown): string | undefined {
  if (!isObject(policy)) return 'it is not an object';
  const statements = asList(policy['Statement']);
  if (policy['Statement'] === undefined) return 'it has no Statement';
  return statements.map(statementProblem).find((problem) => problem !== undefined);
}

function statementProblem(statement: unknown): string | undefined {
  if (!isObject(statement)) return 'a Statement is not an object';
  const { Effect, Action, NotAction, Resource, NotResource, Condition } = statement;
  if (Effect !== 'Allow' && Effect !== 'Deny')
    return `Effect is ${JSON.stringify(Effect)}, not Allow or Deny`;
  if ((Action === undefined) === (NotAction === undefined))
    return 'a Statement needs either Action or NotAction';
  const action = asList(Action ?? NotAction).find((name) => !matches(name, /^(\*|[\w-]+:[\w*?]+)$/));
  if (action !== undefined) return `Action ${JSON.stringify(action)} is not of the form service:Action`;
  const resource = asList(Resource ?? NotResource ?? []).find((name) => !matches(name, /^(\*|arn:.*)$/s));
  if (resource !== undefined) return `Resource ${JSON.stringify(resource)} is neither an ARN nor *`;
  return Condition === undefined ? undefined : conditionProblem(Condition);
}

/** What this engine tells IAM about a request whenever AWS would. */
const suppliedLists = new Set([
  'dynamodb:leadingkeys',
  'dynamodb:enclosingoperation',
  'kms:encryptioncontextkeys',
]);

function conditionProblem(condition: unknown): string | undefined {
  if (!isObject(condition) || !Object.values(condition).every(isObject)) {
    return 'a Condition does not map operators to keys';
  }
  const unsupplied = Object.entries(condition)
    .filter(([operator]) => /^ForAllValues:/i.test(operator))
    .flatMap(([, keys]) => Object.keys(keys as object))
    .find((key) => !suppliedLists.has(key.toLowerCase()));
  if (unsupplied === undefined) return undefined;
  return `ForAllValues holds for a key that is absent, and this engine never supplies ${unsupplied}`;
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
