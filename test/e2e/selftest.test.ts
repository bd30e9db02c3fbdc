import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { runSelftest } from '../../bin/selftest/run-selftest.ts';
import { readCredentials, signedFetch } from './signed-fetch.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ready = inject('platform');
const SECONDS_MAX = 90;

async function selftest(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'selftest.ts'), ...args], { cwd: ROOT });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, ...said };
}

test(
  'the self-test passes every hop and hears of the end over the WebSocket',
  async () => {
    const { code, stdout } = await selftest(
      '--ready-file',
      join(ready.aws_credentials_file, '..', 'ready.json'),
    );
    for (const hop of ['accepted', 'streamed', 'started', 'dispatched', 'answered', 'finished', 'pushed']) {
      expect(stdout).toMatch(new RegExp(`✓ ${hop}\\s+\\d+ ms`));
    }
    expect(stdout).toContain('PASS');
    expect(code).toBe(0);
  },
  SECONDS_MAX * 1000,
);

test(
  'five runs at once do not meet',
  async () => {
    const credentials = readCredentials(ready);
    const run = () =>
      runSelftest({
        apiUrl: ready.api_url,
        credentials,
        region: ready.region,
        timeoutSeconds: 60,
        onHop: () => undefined,
      });
    const outcomes = await Promise.all([run(), run(), run(), run(), run()]);
    expect(outcomes.map((outcome) => outcome.passed)).toEqual([true, true, true, true, true]);
    expect(new Set(outcomes.map((outcome) => outcome.id)).size).toBe(5);
  },
  SECONDS_MAX * 1000,
);

test('a self-test nobody requested is not found, as a problem document', async () => {
  const response = await signedFetch(ready, 'GET', '/api/v1/selftests/0199a1b2-0000-7000-8000-000000000000');
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ status: 404, code: 'selftest.unknown', retryable: false });
});

test('an id that is none is refused by pointer, without echoing it', async () => {
  const response = await signedFetch(ready, 'GET', '/api/v1/selftests/not-an-id');
  const body = await response.text();
  expect(response.status).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ code: 'request.invalid', errors: [{ pointer: '/selftest_id' }] });
  expect(body).not.toContain('not-an-id');
});

test('a socket without a ticket, or with a used one, is refused', async () => {
  const { ticket, socket_url } = (await (await signedFetch(ready, 'POST', '/api/v1/selftests')).json()) as {
    ticket: string;
    socket_url: string;
  };
  const opens = (url: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url);
      socket.addEventListener('open', () => {
        resolve(true);
        socket.close();
      });
      socket.addEventListener('error', () => resolve(false));
    });
  expect(await opens(socket_url)).toBe(false);
  expect(await opens(`${socket_url}?ticket=${ticket}`)).toBe(true);
  expect(await opens(`${socket_url}?ticket=${ticket}`)).toBe(false);
});

test('without a running platform the command says how to start one', async () => {
  const { code, stderr } = await selftest('--ready-file', '/nonexistent/ready.json');
  expect(code).not.toBe(0);
  expect(stderr).toContain('npm start');
});
