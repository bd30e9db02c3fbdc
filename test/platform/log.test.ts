import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../functions/platform/log.ts';

function written(
  fields: Record<string, unknown>,
  message = 'Something happened.',
): { line: string; entry: Record<string, unknown> } {
  const lines: string[] = [];
  createLog({ correlation_id: 'look-1' }, (line) => lines.push(line)).info(message, fields);
  const line = lines[0] ?? '';
  return { line, entry: JSON.parse(line) as Record<string, unknown> };
}

describe('a log line', () => {
  test('is one JSON object with level, time, message and the fields of its log', () => {
    const { entry } = written({ selftest_id: 'a' });
    expect(entry).toMatchObject({
      level: 'info',
      message: 'Something happened.',
      correlation_id: 'look-1',
      selftest_id: 'a',
    });
    expect(Date.parse(String(entry.time))).not.toBeNaN();
  });

  test.each([
    'task_token',
    'ticket',
    'authorization',
    'Cookie',
    'private_key_pem',
    'privateKey',
    'client_secret',
    'password',
  ])('never holds the value of %s, however deep', (name) => {
    const { line } = written({ outer: [{ [name]: 'planted-value' }] });
    expect(line).not.toContain('planted-value');
  });

  test.each([
    'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl',
    'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjdXQ',
    'Bearer abc.def',
    '-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----',
  ])('never holds a credential inside other text: %j', (secret) => {
    expect(written({ note: `before ${secret} after` }, `said ${secret}`).line).not.toContain(
      secret.slice(-12),
    );
  });

  test('tells an error with its cause', () => {
    const error = new Error('outer', { cause: new Error('inner') });
    expect(written({ error }).entry).toMatchObject({
      error: { name: 'Error', message: 'outer', cause: { message: 'inner' } },
    });
  });

  test('is valid JSON for any input', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything({ withBigInt: true, maxDepth: 8 })), (fields) => {
        const lines: string[] = [];
        createLog({}, (line) => lines.push(line)).error('x', { fields });
        expect(() => JSON.parse(lines[0] ?? '')).not.toThrow();
      }),
    );
  });
});
