import { timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Variable } from '../environment.ts';

/**
 * Where a request came from. Behind the front, the gateway sees only the front's address; the front tells its viewer's,
 * and proves by a secret that it was not somebody else who told it.
 */
export function sourceIpOf({ headers, requestContext }: APIGatewayProxyEventV2): string {
  const seen = requestContext?.http?.sourceIp ?? '';
  // An event that no gateway made may lack them.
  const { 'x-front-secret': shown, 'x-viewer-address': viewer } = headers ?? {};
  const secret = process.env['FRONT_SECRET' satisfies Variable];
  return secret && shown && viewer && isSame(shown, secret) ? viewer : seen;
}

function isSame(shown: string, secret: string): boolean {
  const [left, right] = [Buffer.from(shown), Buffer.from(secret)];
  return left.length === right.length && timingSafeEqual(left, right);
}
