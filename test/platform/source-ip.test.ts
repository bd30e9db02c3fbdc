import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sourceIpOf } from '../../functions/platform/http/source-ip.ts';

const SEEN = '203.0.113.7';
const VIEWER = '2001:db8::5';

const sourceWith = (headers: Record<string, string> | undefined): string =>
  sourceIpOf({ headers, requestContext: { http: { sourceIp: SEEN } } } as unknown as APIGatewayProxyEventV2);

describe('where a request came from', () => {
  afterEach(() => {
    delete process.env['FRONT_SECRET'];
  });

  test('is what the gateway saw, if there is no front, whatever the caller says', () => {
    expect(sourceWith({ 'x-viewer-address': VIEWER, 'x-front-secret': '' })).toBe(SEEN);
    expect(sourceWith(undefined)).toBe(SEEN);
  });

  describe('behind a front', () => {
    beforeEach(() => {
      process.env['FRONT_SECRET'] = 'only-the-front-knows';
    });

    test('is what the front says', () => {
      const headers = { 'x-viewer-address': VIEWER, 'x-front-secret': 'only-the-front-knows' };
      expect(sourceWith(headers)).toBe(VIEWER);
    });

    test.each([
      ['says nothing', undefined],
      ['does not know the secret', 'only-the-front-know'],
      ['knows as many characters', 'only-the-front-knowz'],
    ])('is what the gateway saw, if whoever says otherwise %s', (_, secret) => {
      const headers = { 'x-viewer-address': VIEWER, ...(secret && { 'x-front-secret': secret }) };
      expect(sourceWith(headers)).toBe(SEEN);
    });
  });
});
