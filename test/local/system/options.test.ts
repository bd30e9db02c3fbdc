import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseOptions } from '../../../lib/local/system/options.ts';

test('without options, state is kept in .data, and machine and folder decide the rest', () => {
  expect(parseOptions([])).toEqual({
    port: undefined,
    dataDir: resolve('.data'),
    readyFile: resolve('.data/ready.json'),
    fresh: false,
    assembly: undefined,
    dynamodb: undefined,
    rough: undefined,
    host: true,
    context: {},
  });
});

test('every option has its effect', () => {
  const args =
    '--port 0 --data here --ready-file there.json --fresh --assembly out --dynamodb aws --rough 7 --no-host -c a=1 --context b=x=y';
  expect(parseOptions(args.split(' '))).toEqual({
    port: 0,
    dataDir: resolve('here'),
    readyFile: resolve('there.json'),
    fresh: true,
    assembly: resolve('out'),
    dynamodb: 'aws',
    rough: '7',
    host: false,
    context: { a: '1', b: 'x=y' },
  });
});

test.each([
  [['--port', 'many'], '--port takes a number'],
  [['--port', '99999'], '--port takes a number'],
  [['--dynamodb', 'mine'], '--dynamodb takes dynoxide or aws, not "mine"'],
  [['--context', 'nothing'], '--context takes name=value, not "nothing"'],
  [['--context', '=value'], '--context takes name=value'],
  [['--colour'], '--colour'],
])('%j is refused with a sentence', (args, message) => {
  expect(parseOptions(args)).toEqual({ error: expect.stringContaining(message) as string });
});
