import type { AwsResponse } from '../wire/aws.ts';

export type Answer = AwsResponse & { body: Buffer };

const headers = { 'content-type': 'application/x-amz-json-1.0' };

export function answer(body: object): Answer {
  return { status: 200, headers, body: Buffer.from(JSON.stringify(body)) };
}

export function fault(code: string, message: string, more: object = {}): Answer {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${code}`, message, ...more };
  return { status: 400, headers, body: Buffer.from(JSON.stringify(body)) };
}

export interface Reason {
  Code: string;
  Message?: string;
}

/** With a reason for each part of the transaction, in its order. */
export function cancelled(reasons: (Reason | undefined)[]): Answer {
  const CancellationReasons = reasons.map((reason) => reason ?? { Code: 'None' });
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  return fault(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons },
  );
}

export function parseAnswer(given: Answer): Record<string, unknown> {
  return JSON.parse(given.body.toString('utf8')) as Record<string, unknown>;
}
