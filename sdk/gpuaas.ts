#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { text } from 'node:stream/consumers';
import { run } from './cli/run.ts';

process.exitCode = await run(process.argv.slice(2), {
  print: (line) => void process.stdout.write(`${line}\n`),
  tell: (line) => void process.stderr.write(`${line}\n`),
  read: () => text(process.stdin),
});
