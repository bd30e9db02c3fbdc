import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DYNAMODB_ENGINES, startClosedDynamoDb, startDynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import { statusAt } from '../../../lib/local/engines/machine.ts';
import { signal } from '../../../lib/local/engines/pid-file.ts';
import { findNetworkMaker, PrivateNetwork } from '../../../lib/local/engines/private-network.ts';
import { forward } from '../../../lib/local/wire/forward.ts';
import { until } from '../../until.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function makeNetwork(): Promise<PrivateNetwork> {
  const maker = await findNetworkMaker();
  if ('unavailable' in maker) throw new Error(maker.unavailable);
  return new PrivateNetwork(maker);
}

async function startClosed(engine: (typeof DYNAMODB_ENGINES)[number] = 'dynoxide') {
  const dynamodb = await startDynamoDb({ engine, network: await makeNetwork() });
  onTestFinished(() => dynamodb.stop());
  return dynamodb;
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );

describe.each(DYNAMODB_ENGINES)('%s in a network of its own', (engine) => {
  test('answers us, also many at once and at length, and has no port that others could connect to', async () => {
    const { agent, url, name } = await startClosed(engine);
    expect(await statusAt({ url, agent })).toBeDefined();
    await expect(statusAt({ url })).rejects.toThrow('ECONNREFUSED');

    const note = 'x'.repeat(300_000);
    const call = (target: string, body: object) =>
      forward(
        { name, url, agent, secondsMax: 30 },
        {
          method: 'POST',
          path: '/',
          headers: {
            'content-type': 'application/x-amz-json-1.0',
            'x-amz-target': `DynamoDB_20120810.${target}`,
            authorization:
              'AWS4-HMAC-SHA256 Credential=a/20000101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
            'x-amz-date': '20000101T000000Z',
          },
          body: JSON.stringify({ TableName: 'notes', ...body }),
        },
      );
    const made = await call('CreateTable', {
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    expect(made.status).toBe(200);
    const ids = Array.from({ length: 40 }, (_, index) => ({ S: String(index) }));
    await Promise.all(ids.map((id) => call('PutItem', { Item: { id, note: { S: note } } })));
    const read = await Promise.all(ids.map((id) => call('GetItem', { Key: { id } })));
    for (const { body } of read) expect(body.toString()).toContain(note);
  });
});

/** One that has ended, and that nobody has asked how, has no command line any more. */
function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

test.each<[string, (keeper: number) => number | undefined]>([
  ['the engine itself', (keeper) => childrenOf(keeper)[0]],
  ['the keeper of its network', (keeper) => keeper],
])('killed, %s leaves nothing running and comes back', async (_, victim) => {
  const engine = await startClosed();
  const before = engine.pid() ?? 0;
  const family = [before, ...childrenOf(before)];
  signal(victim(before) ?? 0, 'SIGKILL');
  await until(
    () =>
      statusAt(engine).then(
        (status) => status === 200 && engine.pid() !== before,
        () => false,
      ),
    'it to answer again',
  );
  expect(family.filter(isAlive)).toEqual([]);
});

test('a program that ends by itself in there is known by the code it ended with', async () => {
  const network = await makeNetwork();
  const [command = '', ...args] = network.commandFor(['sh', '-c', 'exit 7'], 'KILL');
  expect(() => execFileSync(command, args)).toThrow(expect.objectContaining({ status: 7 }));
});

test('where no network can be made, the engine starts on a port of this machine, and says who can reach it', async () => {
  vi.stubEnv('PATH', '/no-such-folder');
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const engine = await startClosedDynamoDb({ engine: 'dynoxide' });
  onTestFinished(() => engine.stop());
  const words = said.mock.calls.map(([text]) => String(text));
  said.mockRestore();
  expect(words).toEqual([
    expect.stringMatching(
      /^dynamodb +Dynoxide can be reached without credentials by other programs on this machine, because there is no unshare /,
    ),
  ]);
  expect(await statusAt({ url: engine.url })).toBe(200);
});
