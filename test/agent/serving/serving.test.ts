import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { load } from 'js-yaml';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AgentRelease } from '../../../functions/nodes/agent-api.ts';
import { platformKey } from '../../../functions/platform/auth/platform-key.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { type Answer, openWorld, type World } from '../../api/world.ts';
import { agentFile } from './agent-file.ts';

const PLATFORM = 'https://api.example.test';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  process.env['PLATFORM_VERSION'] = manifest.version;
});
afterAll(async () => {
  await world.close();
});

const get = (name: string): Promise<Answer> => world.call(`GET /api/v1/agent/${name}`);

const releaseOf = ({ body }: Answer): string => (body as { document: string }).document;

describe('what a machine needs to become a host', () => {
  test.each([
    ['bootstrap.sh', 'text/x-shellscript; charset=utf-8'],
    ['cloud-init.yaml', 'application/yaml'],
    ['bundle.mjs', 'text/javascript; charset=utf-8'],
    ['release', 'application/json'],
  ])('%s is given to anyone, and may be kept a while', async (name, media) => {
    const { status, headers, text } = await get(name);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': media,
      'cache-control': 'public, max-age=300',
      etag: `"${hash('sha256', text, 'base64url')}"`,
      'x-content-type-options': 'nosniff',
    });
  });

  test('the script and the user data lead back to the platform that served them, and to no other', async () => {
    for (const name of ['bootstrap.sh', 'cloud-init.yaml']) {
      const { text } = await get(name);
      expect(text).toContain(`${PLATFORM}/api/v1/agent/bootstrap.sh`);
      expect(text).not.toContain('@PLATFORM_URL@');
    }
  });

  test('the script is one that a plain shell can read, and does nothing when it is cut off', async () => {
    const { text } = await get('bootstrap.sh');
    execFileSync('sh', ['-n'], { input: text });
    const calls = text.split('\n').filter((line) => /^[a-z_]+( |$)/.test(line) && !line.includes('()'));
    expect(calls).toEqual(['set -eu', 'main "$@"']);
    expect(text.trimEnd().endsWith('\nmain "$@"')).toBe(true);
  });

  test('the user data is what cloud-init takes, and keeps the join token from other users', async () => {
    const { text } = await get('cloud-init.yaml');
    expect(text).toMatch(/^#cloud-config\n/);
    const { write_files, runcmd } = load(text) as {
      write_files: { path: string; permissions: string; content: string }[];
      runcmd: string[][];
    };
    expect(write_files).toMatchObject([{ permissions: '0600', content: '<join token>' }]);
    const [[shell, option, script = ''] = []] = runcmd;
    expect([shell, option]).toEqual(['sh', '-c']);
    execFileSync('sh', ['-n'], { input: script });
    expect(script).toContain(write_files[0]?.path);
  });
});

describe('the program that hosts run', () => {
  test('is one file that Node can run', async () => {
    const { text } = await get('bundle.mjs');
    expect(text).toBe(readFileSync(agentFile(), 'utf8'));
    expect(execFileSync(process.execPath, [agentFile(), 'version'], { encoding: 'utf8' }).trim()).toBe(
      manifest.version,
    );
  });

  test('is released by a document that the key of hosts has signed, with its digest and its size', async () => {
    const [bundle, release] = [await get('bundle.mjs'), await get('release')];
    const { publicKey } = await platformKey(process.env['HOST_KEY_ID'] ?? '');
    const { payload } = await jwtVerify(releaseOf(release), createLocalJWKSet({ keys: [publicKey] }), {
      algorithms: ['ES256'],
      typ: 'gpuaas-agent-release+jwt',
    });
    expect(v.parse(AgentRelease, payload)).toMatchObject({
      version: manifest.version,
      digest: `sha256:${hash('sha256', bundle.text)}`,
      size_bytes: Buffer.byteLength(bundle.text),
    });
  });

  test('is signed once in the life of a function, however often it is asked for', async () => {
    const documents = await Promise.all([get('release'), get('release'), get('release')]);
    expect(new Set(documents.map(releaseOf)).size).toBe(1);
    expect(decodeJwt(releaseOf(await get('release'))).iat).toBeTypeOf('number');
  });
});
