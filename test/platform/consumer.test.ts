import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { beforeAll, describe, expect, test } from 'vitest';
import { queueConsumer, streamConsumer } from '../../functions/platform/consumer.ts';
import { refuse } from '../../functions/platform/errors.ts';
import { task } from '../../functions/platform/task.ts';

const Image = v.object({ id: v.object({ S: v.string() }) });
const Body = v.strictObject({ id: v.string() });

beforeAll(() => {
  process.stdout.write = () => true;
});

const streamOf = (...ids: (string | undefined)[]) =>
  ({
    Records: ids.map((id, index) => ({
      dynamodb: { SequenceNumber: `${index + 1}`, NewImage: id ? { id: { S: id } } : {} },
    })),
  }) as DynamoDBStreamEvent;

const queueOf = (...bodies: string[]) =>
  ({
    Records: bodies.map((body, index) => ({
      messageId: `m${index + 1}`,
      body,
      attributes: { SentTimestamp: '1794800000123' },
    })),
  }) as unknown as SQSEvent;

function failing(...bad: string[]) {
  const seen: string[] = [];
  const consume = async (id: string) => {
    seen.push(id);
    if (bad.includes(id)) throw new Error('no');
  };
  return { seen, consume };
}

describe('a stream consumer', () => {
  test('stops at the first record that fails, so that nothing overtakes it', async () => {
    const { seen, consume } = failing('b');
    const answer = await streamConsumer(Image, (_ctx, { id }) => consume(id.S))(streamOf('a', 'b', 'c'));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect(seen).toEqual(['a', 'b']);
  });

  test('fails on a record it cannot read, instead of passing it over', async () => {
    const { seen, consume } = failing();
    const answer = await streamConsumer(Image, (_ctx, { id }) => consume(id.S))(streamOf('a', undefined));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect(seen).toEqual(['a']);
  });

  test('reports nothing when all is well', async () => {
    const { consume } = failing();
    expect(await streamConsumer(Image, (_ctx, { id }) => consume(id.S))(streamOf('a'))).toEqual({
      batchItemFailures: [],
    });
  });
});

describe('a queue consumer', () => {
  test('gives back the messages that fail and finishes the others', async () => {
    const { seen, consume } = failing('b');
    const consumer = queueConsumer(Body, (_ctx, { id }) => consume(id));
    const answer = await consumer(
      queueOf('{"id":"a"}', '{"id":"b"}', 'not json', '{"id":"c"}', '{"id":"c","more":1}'),
    );
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(['m2', 'm3', 'm5']);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('tells when a message was sent', async () => {
    let sent: Date | undefined;
    await queueConsumer(Body, async (_ctx, _body, { sentAt }) => void (sent = sentAt))(queueOf('{"id":"a"}'));
    expect(sent?.getTime()).toBe(1794800000123);
  });
});

describe('a step of a workflow', () => {
  const named = (name: string) => Object.assign(new Error('no'), { name });

  test.each([
    ['a service that is busy', named('ThrottlingException'), 'unavailable'],
    ['a refusal that may pass', refuse('registry.unavailable'), 'unavailable'],
    ['a refusal that will not', refuse('version.unknown'), 'version.unknown'],
    ['a missing right', named('AccessDeniedException'), 'AccessDeniedException'],
    ['a bug', new TypeError('no'), 'TypeError'],
  ])('fails by the name the workflow goes by: %s', async (_, error, name) => {
    const step = task(v.object({}), () => Promise.reject(error));
    await expect(step({})).rejects.toMatchObject({ name });
  });
});
