import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { signal } from '../../lib/local/engines/pid-file.ts';
import { startCopy, type PlatformCopy } from '../e2e/platform-copy.ts';
import { until } from '../until.ts';
import { type Answer, ask, readRun, type Run } from './runs.ts';

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
  const refusals: Answer[] = [];
  let stopped = false;
  const write = async (): Promise<void> => {
    while (!stopped) {
      const answer = await ask(copy.ready, 'POST', '/api/v1/selftests');
      // One that was not answered in time was not acknowledged either.
      if (answer?.status === 202) acknowledged.push((answer.body as Run).id);
      else if (answer !== undefined) refusals.push(answer);
    }
  };
  const writers = Array.from({ length: 4 }, write);
  await until(() => acknowledged.length >= 5, 'the first writes', 60);

  // The SDK tries again by itself and often outlasts one death, so it dies until somebody was told.
  const killed = new Set<number>();
  await until(
    () => {
      const pid = dynamoDbPid();
      if (!killed.has(pid)) signal(pid, 'SIGKILL');
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
  // What was interrupted is still being worked off, so an answer may take another try; a loss would be a 404.
  for (const id of acknowledged)
    expect(await readRun(copy.ready, id)).toMatchObject({ status: 200, body: { id } });
});
