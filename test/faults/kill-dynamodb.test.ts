import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startCopy, type PlatformCopy } from '../e2e/platform-copy.ts';
import { signedFetch } from '../e2e/signed-fetch.ts';
import { until } from '../until.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-dynamodb-'));
let copy: PlatformCopy;

beforeAll(async () => {
  copy = await startCopy({ dataDir, assembly: inject('assembly') });
});

afterAll(async () => {
  await copy.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function dynamoDbPid(): number {
  return (JSON.parse(readFileSync(join(dataDir, 'dynamodb.pid.json'), 'utf8')) as { pid: number }).pid;
}

test('DynamoDB killed under load: requests are told to try again, it comes back, nothing acknowledged is lost', async () => {
  const acknowledged: string[] = [];
  const refusals: { status: number; retryAfter: string | null; body: unknown }[] = [];
  let stopped = false;
  const write = async (): Promise<void> => {
    while (!stopped) {
      const response = await signedFetch(copy.ready, 'POST', '/api/v1/selftests').catch(() => undefined);
      // One that was not answered in time was not acknowledged either.
      if (response === undefined) continue;
      if (response.status === 202) acknowledged.push(((await response.json()) as { id: string }).id);
      // Read at once: the answer's time limit goes for its body too.
      else
        refusals.push({
          status: response.status,
          retryAfter: response.headers.get('retry-after'),
          body: await response.json(),
        });
    }
  };
  const writers = Array.from({ length: 4 }, write);
  await until(() => acknowledged.length >= 5, 'the first writes');

  // The SDK tries again by itself and often outlasts one death, so it dies until somebody was told.
  const killed = new Set<number>();
  await until(
    () => {
      const pid = dynamoDbPid();
      if (!killed.has(pid)) process.kill(pid, 'SIGKILL');
      killed.add(pid);
      return refusals.length > 0;
    },
    'a request to be refused',
    60,
  );
  const acknowledgedBefore = acknowledged.length;
  await until(() => acknowledged.length >= acknowledgedBefore + 5, 'writes to go through again', 90);
  stopped = true;
  await Promise.all(writers);

  expect(killed).not.toContain(dynamoDbPid());
  for (const refusal of refusals) {
    expect(refusal.status).toBe(503);
    expect(refusal.retryAfter).toMatch(/^\d+$/);
    expect(refusal.body).toMatchObject({ code: 'unavailable', retryable: true });
  }
  for (const id of acknowledged) {
    const read = () => signedFetch(copy.ready, 'GET', `/api/v1/selftests/${id}`).catch(() => undefined);
    // What was interrupted is still being worked off, so an answer may take another try; a loss would be a 404.
    const answer = await until(
      async () => {
        const response = await read();
        return response !== undefined && response.status !== 503 && response;
      },
      `the run ${id} to be read`,
      60,
    );
    expect(answer.status).toBe(200);
  }
});
