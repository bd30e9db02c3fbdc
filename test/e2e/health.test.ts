import { describe, expect, inject, test } from 'vitest';

const { api_url } = inject('platform');

test('health answers anyone with version and time', async () => {
  const response = await fetch(`${api_url}/api/v1/health`, { headers: { 'x-request-id': 'look-1' } });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-request-id')).toBe('look-1');
  const body = (await response.json()) as { version: string; time: string };
  expect(body.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(Math.abs(Date.parse(body.time) - Date.now())).toBeLessThan(60_000);
});

test('the self-test is closed to a caller without AWS credentials', async () => {
  expect((await fetch(`${api_url}/api/v1/selftests`, { method: 'POST' })).status).toBe(403);
});

test('a forged signature is refused', async () => {
  const headers = {
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAFORGED/20261116/us-east-1/execute-api/aws4_request, SignedHeaders=host;x-amz-date, Signature=00',
    'x-amz-date': '20261116T000000Z',
  };
  const response = await fetch(`${api_url}/api/v1/selftests`, { method: 'POST', headers });
  expect(response.status).toBe(403);
});

describe('from a browser', () => {
  const preflight = (origin: string): Promise<Response> =>
    fetch(`${api_url}/api/v1/me`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });

  test('the console may call with a token, and read what an answer says besides its body', async () => {
    const origin = 'http://127.0.0.1:5173';
    const { status, headers } = await preflight(origin);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-headers')).toContain('authorization');
    const answer = await fetch(`${api_url}/api/v1/health`, { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id');
  });

  test('a page of another origin may not', async () => {
    const { headers } = await preflight('https://elsewhere.example.com');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});
