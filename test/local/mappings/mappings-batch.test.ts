import { expect, test } from 'vitest';
import { fittingCount, reportedFailures } from '../../../lib/local/mappings/batch.ts';

const record = (bytes: number) => ({ body: 'x'.repeat(bytes) });

test('a batch holds at most as many records as asked for', () => {
  expect(fittingCount([], 10)).toBe(0);
  expect(fittingCount([record(1), record(1)], 10)).toBe(2);
  expect(fittingCount([record(1), record(1), record(1)], 2)).toBe(2);
});

test('a batch fits into one invocation, unless its only record does not', () => {
  const megabyte = 1024 * 1024;
  expect(
    fittingCount(
      Array.from({ length: 10 }, () => record(megabyte)),
      10,
    ),
  ).toBe(5);
  expect(fittingCount([record(7 * megabyte), record(1)], 10)).toBe(1);
});

const ids = ['a', 'b'];

test.each([
  ['null'],
  ['{}'],
  ['{"batchItemFailures":null}'],
  ['{"batchItemFailures":[]}'],
  ['{"other":"field"}'],
])('%s reports no failure', (answer) => {
  expect(reportedFailures(Buffer.from(answer), ids)).toEqual(new Set());
});

test.each([
  ['"done"'],
  ['true'],
  ['{"batchItemFailures":"a"}'],
  ['{"batchItemFailures":[null]}'],
  ['{"batchItemFailures":["a"]}'],
  ['{"batchItemFailures":[{"itemIdentifier":null}]}'],
  ['{"batchItemFailures":[{"itemIdentifier":""}]}'],
  ['{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"c"}]}'],
])('%s can not be understood', (answer) => {
  expect(reportedFailures(Buffer.from(answer), ids)).toBeUndefined();
});

test('the records it names have failed', () => {
  const answer = Buffer.from('{"batchItemFailures":[{"itemIdentifier":"b"}]}');
  expect(reportedFailures(answer, ids)).toEqual(new Set(['b']));
});
