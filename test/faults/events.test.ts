import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { runSelftest } from '../../bin/selftest/run-selftest.ts';
import type { Template } from '../../lib/local/template/template.ts';
import { DEEP } from '../deep.ts';
import { type PlatformCopy, startCopy } from '../e2e/platform-copy.ts';
import { readCredentials } from '../e2e/signed-fetch.ts';
import { until } from '../until.ts';
import { type EventRows, openEventRows } from './event-rows.ts';
import { readRun, requestRun, type Run } from './runs.ts';

const BURST = DEEP ? 20_000 : 2_000;
/** Five deliveries, put off twice as long each time. */
const GIVEN_UP_SECONDS_MAX = 60;

const folder = mkdtempSync(join(tmpdir(), 'gpuaas-events-'));
const assembly = join(folder, 'assembly');
const template = 'GpuaasCore.template.json';
const whole = JSON.parse(readFileSync(join(inject('assembly'), template), 'utf8')) as Template;

let copy: PlatformCopy;
let rows: EventRows;
let sqs: SQSClient;
let lambda: LambdaClient;
let applied = 0;

beforeAll(async () => {
  cpSync(inject('assembly'), assembly, { recursive: true });
  copy = await startCopy({ dataDir: join(folder, 'data'), assembly });
  rows = await openEventRows(copy.ready);
  const { aws_endpoint: endpoint, region } = copy.ready;
  const credentials = readCredentials(copy.ready);
  sqs = new SQSClient({ endpoint, region, credentials });
  lambda = new LambdaClient({ endpoint, region, credentials });
  await selftest();
});

afterAll(async () => {
  await copy.stop();
  rmSync(folder, { recursive: true, force: true });
});

const selftest = async (timeoutSeconds = 60): Promise<void> => {
  const { failure } = await runSelftest({
    apiUrl: copy.ready.api_url,
    credentials: readCredentials(copy.ready),
    region: copy.ready.region,
    timeoutSeconds,
    onHop: () => undefined,
  });
  expect(failure).toBeUndefined();
};

/** The run as it is once its workflow has ended, whoever heard of it. */
const passedRun = async (): Promise<Run> => {
  const id = await requestRun(copy.ready);
  return until(async () => {
    const run = (await readRun(copy.ready, id)).body as Run;
    return run.status === 'passed' && run;
  }, 'the run to pass');
};

async function apply(change: (template: Template) => void): Promise<void> {
  const changed = structuredClone(whole);
  change(changed);
  writeFileSync(join(assembly, template), JSON.stringify(changed));
  applied += 1;
  await until(
    () => copy.output().split('applied the changed template').length > applied,
    'the change to be applied',
    60,
  );
}

async function queueUrl(part: string): Promise<string> {
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  return QueueUrls.find((url) => url.includes(part)) ?? '';
}

async function arnOf(QueueUrl: string): Promise<string> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  return Attributes?.['QueueArn'] ?? '';
}

async function countIn(QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}

/** Looks at what lies in a failure queue, and leaves it there. */
async function givenUp(queue: string): Promise<{ body: object; error?: string }> {
  const QueueUrl = await queueUrl(queue);
  return until(
    async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0, MessageAttributeNames: ['All'] }),
      );
      const [message] = Messages;
      return (
        message && {
          body: JSON.parse(message.Body ?? '') as object,
          error: message.MessageAttributes?.['error']?.StringValue,
        }
      );
    },
    `a message in ${queue}`,
    GIVEN_UP_SECONDS_MAX,
  );
}

/** As docs/runbooks/events.md has it. */
async function redrive(failures: string, queue: string): Promise<void> {
  const [SourceArn, DestinationArn] = [
    await arnOf(await queueUrl(failures)),
    await arnOf(await queueUrl(queue)),
  ];
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn }));
}

const INSTANCE = { app_instance_id: 'i1', app_slug: 'nothing-here', app_version: '1.0.0' };

// Both are put off several times before they are given up.
describe.concurrent('an event that always fails', () => {
  test('ends in the failure queue of the domain that reacts, while others’ workflows start, and is redriven', async () => {
    const place = newId();
    const type = 'apps.instance.running';
    const [bad = ''] = await rows.write({ place, type, data: { app_slug: 7 } });
    await selftest();
    // Its own place goes on, too.
    await rows.write({ place, type, data: INSTANCE }, { place });
    await until(async () => (await rows.head(place)).relayed === 3, 'the place to be relayed');

    const failed = await givenUp('ReactionsCatalogFailures');
    expect(failed).toEqual({
      body: { place, event_id: bad, type, correlation_id: bad },
      error: 'ValiError',
    });
    await rows.mend(bad, { place, type, data: INSTANCE });
    await redrive('ReactionsCatalogFailures', 'ReactionsCatalogQueue');
    for (const queue of ['ReactionsCatalogFailures', 'ReactionsCatalogQueue'])
      await until(async () => (await countIn(await queueUrl(queue))) === 0, `${queue} to be empty`);
  });

  test('to be relayed ends in the relay’s failure queue, while its place goes on, and is redriven', async () => {
    const place = newId();
    const [bad = ''] = await rows.write({ place, instead: { type: 7 } }, { place });
    await until(async () => (await rows.head(place)).relayed === 1, 'the other to be relayed');
    expect((await givenUp('RelayAgainWorkFailures')).body).toMatchObject({ place, event_id: bad });
    await rows.mend(bad, { place });
    await redrive('RelayAgainWorkFailures', 'RelayAgainWorkQueue');
    await until(async () => (await rows.head(place)).relayed === 2, 'the mended one to be relayed');
  });
});

test('every place keeps its order, whichever shard it is in and whatever comes again', async () => {
  const places = Array.from({ length: 6 }, () => newId());
  const said = new Map(places.map((place) => [place, [] as string[]]));
  for (let round = 0; round < 15; round += 1)
    for (const place of places) said.get(place)?.push(...(await rows.write({ place })));
  for (const place of places) {
    await until(async () => (await rows.head(place)).relayed === 15, 'the place to be relayed');
    expect(await rows.feed(place)).toEqual(said.get(place));
  }
});

test('while the bus is away, feeds go on and workflows start, and it is told what it missed', async () => {
  const place = newId();
  await apply(({ Resources = {} }) => {
    for (const [id, { Properties }] of Object.entries(Resources)) {
      if (!id.startsWith('RelayEventsRoleDefaultPolicy')) continue;
      const { PolicyDocument } = Properties as {
        PolicyDocument: { Statement: { Action: string | string[] }[] };
      };
      PolicyDocument.Statement = PolicyDocument.Statement.filter(
        ({ Action }) => Action !== 'events:PutEvents',
      );
    }
  });
  await rows.write({ place }, { place });
  await until(async () => (await rows.head(place)).sequence === 2, 'the feed to go on');
  await selftest();
  expect(await rows.head(place)).toEqual({ sequence: 2, relayed: 0 });
  await apply(() => undefined);
  // It is left alone for some seconds after it did not answer; what happens then finds it back.
  await until(async () => {
    const { sequence, relayed } = await rows.head(place);
    if (sequence > 2 && relayed === sequence) return true;
    await rows.write({ place });
    return false;
  }, 'the bus to be told');
});

test('what the stream never told is finished by the sweep', async () => {
  await apply(({ Resources = {} }) => {
    for (const { Type, Properties = {} } of Object.values(Resources))
      if (Type === 'AWS::Lambda::EventSourceMapping' && 'StartingPosition' in Properties)
        Properties['Enabled'] = false;
  });
  const place = newId();
  const [plain, reacted = ''] = await rows.write(
    { place, minutesAgo: 20 },
    { place, type: 'apps.instance.running', data: INSTANCE, minutesAgo: 20 },
  );
  expect(plain).toBeDefined();
  const { FunctionError, Payload } = await lambda.send(
    new InvokeCommand({ FunctionName: 'GpuaasCore-events-sweep-outbox', Payload: '{}' }),
  );
  expect([FunctionError, Payload && Buffer.from(Payload).toString()]).toEqual([undefined, 'null']);
  expect(await rows.head(place)).toEqual({ sequence: 2, relayed: 2 });
  expect(await rows.isDispatched(reacted)).toBe(true);
  await apply(() => undefined);
  await selftest();
});

test(
  `${BURST} events of one place at once delay neither another place’s workflow nor its end`,
  async () => {
    const place = newId();
    const writing = rows.write(...Array.from({ length: BURST }, () => ({ place })));
    await until(async () => (await rows.head(place)).sequence > 0, 'the burst to begin');
    const meanwhile = selftest(DEEP ? 300 : 60);
    const run = await passedRun();
    // Otherwise it would say nothing: the burst must still have been on its way.
    expect((await rows.head(place)).sequence).toBeLessThan(BURST);
    expect(run.status).toBe('passed');
    await meanwhile;
    await writing;
    await until(async () => (await rows.head(place)).relayed === BURST, 'the burst to be relayed', 170);
  },
  DEEP ? 600_000 : undefined,
);
