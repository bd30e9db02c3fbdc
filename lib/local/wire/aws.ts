// The seam every emulated AWS service is written against. The front door has already read the body,
// verified the signature and asked IAM about everything `access` returned before `handle` is called.

export const ACCOUNT = '000000000000';
export const REGION = 'us-east-1';

/** Who signed a request: the person at this machine, or a session of one of the template's roles. */
export type Principal =
  | { kind: 'operator'; arn: string }
  | { kind: 'role'; arn: string; roleArn: string; sessionName: string; sessionPolicy?: PolicyDocument };

export interface PolicyDocument {
  Version?: string;
  Statement: PolicyStatement | PolicyStatement[];
}

export type PolicyStatement = Record<string, unknown>;

/** One permission a request needs. Resource policies are looked up by the front door, not passed here. */
export interface Access {
  action: string;
  resource: string;
  context?: Record<string, string | string[]>;
}

export interface AwsRequest {
  method: string;
  /** As sent, still percent-encoded, without the query. */
  path: string;
  /** The query as sent, without the question mark. */
  search: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body: Buffer;
  principal: Principal;
}

export interface AwsResponse {
  status: number;
  headers?: Record<string, string>;
  /** Each becomes a `Set-Cookie` of its own: unlike other headers they cannot be joined. */
  cookies?: string[];
  body?: Buffer | string;
}

export type Protocol = 'json-1.0' | 'json-1.1' | 'rest-json' | 'rest-xml' | 'query';

export interface Service {
  /** The service name in the credential scope: `dynamodb`, `sqs`, `states`, `kms`, … */
  scope: string;
  /** Decides how an error is written on the wire. */
  protocol: Protocol;
  access(request: AwsRequest): Access[];
  handle(request: AwsRequest): Promise<AwsResponse>;
}

/** An error the caller's SDK will recognise by `code`. */
export class AwsError extends Error {
  code: string;
  status: number;
  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'AwsError';
    this.code = code;
    this.status = status;
  }
}

/** The operation of an AWS JSON request: `DynamoDB_20120810.PutItem` → `PutItem`. */
export function jsonOperation(request: AwsRequest): string {
  const target = request.headers['x-amz-target'] ?? '';
  return target.slice(target.lastIndexOf('.') + 1);
}

export function jsonBody<T = Record<string, unknown>>(request: AwsRequest): T {
  if (request.body.length === 0) return {} as T;
  try {
    return JSON.parse(request.body.toString('utf8')) as T;
  } catch {
    throw new AwsError('SerializationException', 'The body is not valid JSON.');
  }
}

export function jsonAnswer(body: unknown, status = 200): AwsResponse {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify(body ?? {}),
  };
}
