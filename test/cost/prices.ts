// What AWS asks for, in us-east-1, at list price and without any free tier. To correct a price, change it here and run
// `npm run cost`.

/** When somebody last knew them to be right. AWS's own price pages have the last word. */
export const PRICES_AS_OF = 'June 2025';

interface Price {
  usd: number;
  /** For how many of `unit` that is. */
  per: number;
  unit: string;
}

const price = (usd: number, per: number, unit: string): Price => ({ usd, per, unit });
const MILLION = 1_000_000;

export const PRICES = {
  key: price(1, 1, 'KMS key a month'),
  secret: price(0.4, 1, 'secret a month'),
  alarm: price(0.1, 1, 'metric an alarm reads, a month'),
  metric: price(0.3, 1, 'metric of our own, a month'),
  logIngested: price(0.5, 1, 'GB of log written'),
  logKept: price(0.03, 1, 'GB of log kept a month'),
  trace: price(5, MILLION, 'traces'),
  invocation: price(0.2, MILLION, 'Lambda invocations'),
  gbSecond: price(0.000_013_333_4, 1, 'GB-second of Lambda (arm64)'),
  schedule: price(1, MILLION, 'runs of a schedule'),
  sqs: price(0.4, MILLION, 'SQS requests'),
  transition: price(25, MILLION, 'state transitions'),
  event: price(1, MILLION, 'events on the bus'),
  request: price(1, MILLION, 'requests to the HTTP API'),
  write: price(0.625, MILLION, 'DynamoDB write units'),
  read: price(0.125, MILLION, 'DynamoDB read units'),
  tableKept: price(0.25, 1, 'GB in a table a month'),
  backupKept: price(0.2, 1, 'GB of point-in-time recovery a month'),
  objectKept: price(0.023, 1, 'GB in S3 a month'),
  imageKept: price(0.1, 1, 'GB in ECR a month'),
  person: price(0.015, 1, 'person who signs in with Cognito, a month'),
  personPlus: price(
    0.02,
    1,
    'person who signs in with Cognito, a month, with threat protection (`cognito_plan=plus`)',
  ),
  firewall: price(5, 1, 'web ACL a month'),
  firewallRule: price(1, 1, 'rule of a web ACL a month'),
  firewallRequest: price(0.6, MILLION, 'requests through its firewall'),
  frontRequest: price(1, MILLION, 'requests to CloudFront'),
} satisfies Record<string, Price>;

export type PriceName = keyof typeof PRICES;

export function costOf(name: PriceName, count: number): number {
  const { usd, per } = PRICES[name];
  return (count * usd) / per;
}
