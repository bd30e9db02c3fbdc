import { describe, expect, test } from 'vitest';
import { Principals } from '../../../lib/local/iam/principals.ts';

const secret = Buffer.alloc(32, 1);
const principals = new Principals(secret, () => 'http://127.0.0.1:4000');
const roleArn = 'arn:aws:iam::000000000000:role/service/Reader';

describe('sessions', () => {
  test('are found by their key and token, with everything they were given', () => {
    const sessionPolicy = { Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: '*' }] };
    const credentials = principals.session(roleArn, 'reader-1', { sessionPolicy });
    expect(principals.find(credentials.accessKeyId, credentials.sessionToken)).toEqual({
      secretAccessKey: credentials.secretAccessKey,
      principal: {
        kind: 'role',
        arn: 'arn:aws:sts::000000000000:assumed-role/Reader/reader-1',
        roleArn,
        sessionName: 'reader-1',
        sessionPolicy,
      },
    });
  });

  test('survive a restart that keeps the secret, and no other', () => {
    const { accessKeyId, sessionToken, secretAccessKey } = principals.session(roleArn, 'reader-1');
    const restarted = new Principals(secret, () => 'http://127.0.0.1:4001');
    expect(restarted.find(accessKeyId, sessionToken)?.secretAccessKey).toBe(secretAccessKey);
    expect(new Principals(Buffer.alloc(32, 2), () => '').find(accessKeyId, sessionToken)).toBeUndefined();
  });

  test('cannot be used with the key of another session, a changed token or none', () => {
    const one = principals.session(roleArn, 'one');
    const two = principals.session(roleArn, 'two');
    expect(principals.find(one.accessKeyId, two.sessionToken)).toBeUndefined();
    expect(principals.find(one.accessKeyId, undefined)).toBeUndefined();
    const bytes = Buffer.from(one.sessionToken ?? '', 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(principals.find(one.accessKeyId, bytes.toString('base64'))).toBeUndefined();
    expect(principals.find(one.accessKeyId, 'not a token')).toBeUndefined();
  });

  test('end when they expire', () => {
    const expired = principals.session(roleArn, 'late', { expiresAt: new Date(Date.now() - 1) });
    expect(() => principals.find(expired.accessKeyId, expired.sessionToken)).toThrow(/expired/);
    const current = principals.session(roleArn, 'in-time', { expiresAt: new Date(Date.now() + 60_000) });
    expect(principals.find(current.accessKeyId, current.sessionToken)?.principal.kind).toBe('role');
  });
});

test('the operator keeps the same key, and it works without a session', () => {
  const { accessKeyId, secretAccessKey } = principals.operator();
  expect(new Principals(secret, () => '').operator()).toEqual({ accessKeyId, secretAccessKey });
  expect(principals.find(accessKeyId, undefined)?.principal.kind).toBe('operator');
});

test('the configuration of a client names the endpoint of the moment and a session of the role', () => {
  const { endpoint, credentials } = principals.clientConfig(roleArn, 'engine');
  expect(endpoint).toBe('http://127.0.0.1:4000');
  const found = principals.find(credentials.accessKeyId, credentials.sessionToken);
  expect(found?.principal).toMatchObject({ roleArn, sessionName: 'engine' });
});

test('a secret that is too short is refused', () => {
  expect(() => new Principals(Buffer.alloc(16), () => '')).toThrow(/32 are needed/);
});
