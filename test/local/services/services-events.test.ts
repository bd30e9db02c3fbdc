import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EventBridgeClient,
  PutEventsCommand,
  PutRuleCommand,
  type PutEventsRequestEntry,
} from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJournal, type Journal } from '../../../lib/local/journal/journal.ts';
import { identifyWith, kindOf } from '../../../lib/local/resources/index.ts';
import { Plan } from '../../../lib/local/resources/plan.ts';
import { createEventsService, type EventsService } from '../../../lib/local/services/events.ts';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';
import { signRequest } from './sign-request.ts';

const busArn = (name: string) => `arn:aws:events:us-east-1:000000000000:event-bus/${name}`;
const MEGABYTE = 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'events-'));
let journal: Journal;
let world: AwsServices;
let events: EventsService;
let operator: EventBridgeClient;

beforeAll(async () => {
  journal = openJournal(folder);
  events = createEventsService({ journal });
  world = await openAwsServices({ services: [events] });
  operator = new EventBridgeClient(world.asOperator());
});

afterAll(async () => {
  await world?.close();
  journal?.close();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (over: Partial<PutEventsRequestEntry> = {}): PutEventsRequestEntry => ({
  Source: 'gpuaas',
  DetailType: 'apps.instance.requested',
  Detail: '{"id":"i1"}',
  EventBusName: 'main',
  ...over,
});

const put = (...Entries: PutEventsRequestEntry[]) => operator.send(new PutEventsCommand({ Entries }));

describe('putting events', () => {
  test('keeps each as a rule would get it, in order', async () => {
    const Time = new Date('2026-11-16T05:06:07.890Z');
    const answer = await put(
      entry({ Time, Resources: ['arn:one', 'arn:two'] }),
      entry({ EventBusName: busArn('other'), Detail: '{"id":"i2","nested":{"a":[1]}}' }),
      entry({ EventBusName: undefined }),
    );
    expect(answer.FailedEntryCount).toBe(0);
    const ids = answer.Entries?.map(({ EventId }) => EventId);
    const kept = events.recent().slice(-3);
    expect(kept.map(({ id }) => id)).toEqual(ids);
    expect(kept[0]).toEqual({
      bus: busArn('main'),
      version: '0',
      id: ids?.[0],
      'detail-type': 'apps.instance.requested',
      source: 'gpuaas',
      account: '000000000000',
      time: '2026-11-16T05:06:07Z',
      region: 'us-east-1',
      resources: ['arn:one', 'arn:two'],
      detail: { id: 'i1' },
    });
    expect(kept[1]).toMatchObject({ bus: busArn('other'), detail: { id: 'i2', nested: { a: [1] } } });
    expect(kept[2]).toMatchObject({ bus: busArn('default'), resources: [] });
  });

  test.each<[string, Partial<PutEventsRequestEntry>, string]>([
    ['without a source', { Source: undefined }, 'InvalidArgument'],
    ['with an empty source', { Source: '' }, 'InvalidArgument'],
    ['without a detail type', { DetailType: undefined }, 'InvalidArgument'],
    ['without a detail', { Detail: undefined }, 'InvalidArgument'],
    ['with a detail that is not JSON', { Detail: '{' }, 'MalformedDetail'],
    ['with a detail that is no object', { Detail: '[1]' }, 'MalformedDetail'],
    ["in AWS's name", { Source: 'aws.ec2' }, 'NotAuthorizedForSourceException'],
  ])('fails for one %s, and for that one alone', async (_what, over, code) => {
    const before = events.recent().length;
    const { FailedEntryCount, Entries } = await put(entry(), entry(over), entry());
    expect(FailedEntryCount).toBe(1);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([undefined, code, undefined]);
    expect(Entries?.[1]?.ErrorMessage).toBeTruthy();
    expect(Entries?.[1]?.EventId).toBeUndefined();
    expect(events.recent()).toHaveLength(before + 2);
  });

  test.each<[string, PutEventsRequestEntry[]]>([
    ['no entry', []],
    ['11 entries', Array.from({ length: 11 }, () => entry())],
    ['one byte more than 1 MiB', ofBytes(MEGABYTE + 1)],
    ['one byte more than 1 MiB in several entries', [...ofBytes(MEGABYTE / 2), ...ofBytes(MEGABYTE / 2 + 1)]],
  ])('with %s is refused whole', async (_what, entries) => {
    const before = events.recent().length;
    expect((await failure(put(...entries))).name).toBe('ValidationException');
    expect(events.recent()).toHaveLength(before);
  });

  test('takes 10 entries, and exactly 1 MiB counted as AWS counts it', async () => {
    expect(await put(...Array.from({ length: 10 }, () => entry()))).toMatchObject({ FailedEntryCount: 0 });
    expect(await put(...ofBytes(MEGABYTE))).toMatchObject({ FailedEntryCount: 0 });
    expect(await put(...ofBytes(MEGABYTE - 14, { Time: new Date() }))).toMatchObject({ FailedEntryCount: 0 });
    const over = put(...ofBytes(MEGABYTE - 13, { Time: new Date() }));
    expect((await failure(over)).name).toBe('ValidationException');
  });

  test.each(['[]', 'null', '{}', '{"Entries":{}}', '{"Entries":[1]}', '{"Entries":[{"Detail":5}]}', '{'])(
    'with the body %s is a fault of the caller',
    async (body) => {
      const response = await signRequest(world, {
        service: 'events',
        method: 'POST',
        path: '/',
        headers: { 'x-amz-target': 'AWSEvents.PutEvents', 'content-type': 'application/x-amz-json-1.1' },
        body: Buffer.from(body),
      });
      expect(response.status).toBe(400);
    },
  );

  test('is the only thing that is served', async () => {
    const rule = new PutRuleCommand({ Name: 'r', ScheduleExpression: 'rate(1 minute)' });
    expect(await failure(operator.send(rule))).toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringContaining('PutRule'),
    });
  });
});

describe('a role', () => {
  const putAs = (name: string, statement: ReturnType<typeof allow>, ...Entries: PutEventsRequestEntry[]) =>
    new EventBridgeClient(world.asRole(name, statement)).send(new PutEventsCommand({ Entries }));

  test('puts events only on the bus it was granted, by name or ARN', async () => {
    const grant = allow('events:PutEvents', busArn('main'));
    expect(await putAs('main-only', grant, entry(), entry({ EventBusName: busArn('main') }))).toMatchObject({
      FailedEntryCount: 0,
    });
    const before = events.recent().length;
    for (const EventBusName of ['other', undefined]) {
      const denied = await failure(putAs('main-only', grant, entry(), entry({ EventBusName })));
      expect(denied).toMatchObject({
        name: 'AccessDeniedException',
        message: expect.stringContaining(busArn(EventBusName ?? 'default')),
      });
    }
    expect(events.recent()).toHaveLength(before);
  });

  test('is held to the source its grant names', async () => {
    const grant = allow('events:PutEvents', busArn('main'), { StringEquals: { 'events:source': 'gpuaas' } });
    expect(await putAs('source-only', grant, entry())).toMatchObject({ FailedEntryCount: 0 });
    expect((await failure(putAs('source-only', grant, entry({ Source: 'x' })))).name).toBe(
      'AccessDeniedException',
    );
  });
});

test('events survive a restart, and the oldest make room after 10,000', async () => {
  const last = events.recent().at(-1);
  expect(createEventsService({ journal }).recent().at(-1)).toEqual(last);
  journal.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
    INSERT INTO event (content) SELECT json_object('id', 'filler ' || i) FROM n`);
  await put(entry());
  const recent = events.recent();
  expect(recent).toHaveLength(10_000);
  expect(recent[0]?.id).toBe('filler 2002');
  expect(recent.at(-1)?.source).toBe('gpuaas');
});

describe('in a template', () => {
  const declare = (type: string, properties: Record<string, unknown>) => ({
    stack: 'S',
    logicalId: 'Bus',
    type,
    properties,
    assets: new Map<string, string>(),
  });
  const identify = identifyWith({ url: 'http://127.0.0.1:1', streams: new Map() });

  test('a bus has its name and ARN, and its policy counts', () => {
    const Policy = { Statement: [{ Effect: 'Deny', Principal: '*', Action: 'events:*', Resource: '*' }] };
    const bus = declare('AWS::Events::EventBus', { Name: 'main', Description: 'x', Policy });
    const identity = identify(bus);
    expect(identity).toEqual({ ref: 'main', attributes: { Arn: busArn('main'), Name: 'main' } });
    const plan = new Plan();
    kindOf(bus).plan?.({ ...bus, identity }, plan);
    expect(plan.resourcePolicies.get(busArn('main'))).toEqual(Policy.Statement);
  });

  test('a bus of a partner and a rule are refused, not forgotten', () => {
    expect(() =>
      kindOf(declare('AWS::Events::EventBus', { Name: 'x', EventSourceName: 'aws.partner/x' })),
    ).toThrow(/EventSourceName/);
    expect(() => kindOf(declare('AWS::Events::Rule', {}))).toThrow(/AWS::Events::Rule.*cannot host/);
  });
});

/** One entry that counts for as many bytes, some of them in letters of two. */
function ofBytes(bytes: number, over: Partial<PutEventsRequestEntry> = {}): PutEventsRequestEntry[] {
  const around = Buffer.byteLength(JSON.stringify({ padding: 'éé' })) + 's'.length + 't'.length;
  const Detail = JSON.stringify({ padding: `éé${'x'.repeat(bytes - around)}` });
  return [{ Source: 's', DetailType: 't', Detail, ...over }];
}
