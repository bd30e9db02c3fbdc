// Writes to a journal without end, and says of each task when it was begun and ended: what was said must be there after
// the process is killed.

import { openJournal } from '../../../agent/journal/journal.ts';
import { aTask } from '../a-task.ts';

const [stateDir = ''] = process.argv.slice(2);
const now = () => new Date();
const journal = openJournal(stateDir, now);
const say = (line: string) => process.stdout.write(`${line}\n`);

for (let count = 0; ; count++) {
  const task = aTask();
  journal.tasks.begin(task, JSON.stringify(task), now());
  say(`begun ${task.id}`);
  journal.tasks.step(task.id, 'half.way', { count }, now());
  const outcome = { status: 'succeeded', fence: 1, at: now().toISOString(), result: {} } as const;
  journal.tasks.end(task.id, task, outcome, `/${task.id}`, now());
  say(`ended ${task.id}`);
  await new Promise((resolve) => setImmediate(resolve));
}
