#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { run } from './cli/run.ts';

// A task that does not heed that the agent stops must not keep the process: the next one has to get the lock.
process.exit(
  await run(process.argv.slice(2), {
    print: (line) => void process.stdout.write(`${line}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
  }),
);
