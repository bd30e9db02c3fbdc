import { expect, test } from 'vitest';
import { Lanes } from '../../../agent/runner/lanes.ts';

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

test('work of one subject is done one after the other, in the order it came', async () => {
  const lanes = new Lanes(8);
  const seen: number[] = [];
  let running = 0;
  const work = (number: number) => async () => {
    expect(++running).toBe(1);
    await Promise.resolve();
    seen.push(number);
    running--;
  };
  await Promise.all([1, 2, 3, 4, 5].map((number) => lanes.run('a', work(number))));
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});

test('work of different subjects is done at the same time', async () => {
  const lanes = new Lanes(8);
  const { opened, open } = gate();
  const first = lanes.run('a', () => opened);
  await lanes.run('b', () => Promise.resolve(open()));
  await first;
});

test('what has no subject waits for nobody', async () => {
  const lanes = new Lanes(8);
  const { opened, open } = gate();
  const first = lanes.run(undefined, () => opened);
  await lanes.run(undefined, () => Promise.resolve(open()));
  await first;
});

test('never more than so many at once', async () => {
  const lanes = new Lanes(3);
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => lanes.run(`subject-${index}`, work)));
  expect(most).toBe(3);
});

test('a failure is told to whoever asked, and the next of the subject is done', async () => {
  const lanes = new Lanes(1);
  const failed = lanes.run('a', () => Promise.reject(new Error('no')));
  const next = lanes.run('a', () => Promise.resolve('done'));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('done');
});
