// A process of its own that hosts two machines, to be killed and started again on the same folder.
// Prints where it listens. Functions leave a line in `effects` each time they are called.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { awaitToken, invoke, openStepFunctionsWorld } from './step-functions-world.ts';

const dataDir = process.argv[2] ?? '';
const effect = (line: string): void => appendFileSync(join(dataDir, 'effects'), `${line}\n`);

const world = await openStepFunctionsWorld({ dataDir });
world.functions['step'] = async ({ step }: { step: number }) => {
  effect(`step ${step}`);
  await wait(20);
  return { step: step + 1 };
};
world.functions['receive'] = ({ token }: { token: string }) => effect(`token ${token}`);

const stepsMax = 10;
const count = {
  StartAt: 'Step',
  States: {
    Step: invoke('step', { Next: 'Enough' }),
    Enough: {
      Type: 'Choice',
      Choices: [{ Variable: '$.step', NumericLessThan: stepsMax, Next: 'Step' }],
      Default: 'Done',
    },
    Done: { Type: 'Succeed' },
  },
};
const ask = {
  StartAt: 'First',
  States: {
    First: invoke('step', { Next: 'Await' }),
    Await: awaitToken('receive', { Next: 'Last' }),
    Last: invoke('step'),
  },
};
const arns = { count: world.put(count, { name: 'count' }), ask: world.put(ask, { name: 'ask' }) };
world.machines.start();
process.stdout.write(
  `${JSON.stringify({ endpoint: world.endpoint, credentials: world.principals.operator(), arns })}\n`,
);
