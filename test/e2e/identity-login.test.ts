import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { dataDir } from './planted-secrets.ts';

// Signing in itself, by code and by device, is tried in test/local/oidc*.test.ts and test/bin/token.test.ts.

const ROOT = join(import.meta.dirname, '..', '..');
const { oidc_issuer, api_url } = inject('platform');

function token(email: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = ['run', '-s', 'token', '--', email, '--data', dataDir];
  return new Promise((resolve) => {
    execFile('npm', args, { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test('a token of nobody is refused with who there is', async () => {
  const { code, stdout, stderr } = await token('nobody@example.com');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('nobody@example.com');
  for (const person of ['admin', 'owner', 'developer', 'operator', 'viewer', 'outsider'])
    expect(stderr).toContain(`${person}@example.com`);
  expect(stderr).not.toContain('    at ');
});

test('a token of somebody is the provider’s own, and says who they are', async () => {
  const { code, stdout } = await token('viewer@example.com');
  expect(code).toBe(0);
  const me = await fetch(`${api_url}/api/v1/me`, { headers: { authorization: `Bearer ${stdout.trim()}` } });
  expect(await me.json()).toMatchObject({ kind: 'user', email: 'viewer@example.com' });
  const [, claims = ''] = stdout.split('.');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ iss: oidc_issuer });
});
