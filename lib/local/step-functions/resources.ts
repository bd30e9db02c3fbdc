export interface Resource {
  /** `lambda:invoke`, `sqs:sendMessage`, …, or `lambda:direct` for a function named by its ARN. */
  integration: string;
  functionArn?: string;
  waitsForToken: boolean;
}

const CALLBACK = '.waitForTaskToken';
const OPTIMIZED = 'arn:aws:states:::';
const FUNCTION_ARN = /^arn:aws:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;

const INTEGRATIONS = [
  'lambda:invoke',
  'sqs:sendMessage',
  'dynamodb:getItem',
  'dynamodb:putItem',
  'dynamodb:updateItem',
  'dynamodb:deleteItem',
  'states:startExecution',
  'events:putEvents',
];

/** DynamoDB answers at once and has nobody to hand a token to. */
const takesToken = (integration: string): boolean => !integration.startsWith('dynamodb:');

export const HOSTED_RESOURCES = INTEGRATIONS.flatMap((name) =>
  takesToken(name) ? [OPTIMIZED + name, OPTIMIZED + name + CALLBACK] : [OPTIMIZED + name],
);

export function parseResource(resource: unknown): Resource | undefined {
  if (typeof resource !== 'string') return undefined;
  if (FUNCTION_ARN.test(resource)) {
    return { integration: 'lambda:direct', functionArn: resource, waitsForToken: false };
  }
  if (!HOSTED_RESOURCES.includes(resource)) return undefined;
  const waitsForToken = resource.endsWith(CALLBACK);
  const end = waitsForToken ? -CALLBACK.length : undefined;
  return { integration: resource.slice(OPTIMIZED.length, end), waitsForToken };
}
