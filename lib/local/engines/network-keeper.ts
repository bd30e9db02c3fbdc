// Runs inside a network of its own: `<ip> <port> <the engine's command line>`. Starts the engine there, and hands an
// open connection to it to whoever started this process, as often as they ask. Ends with the engine, and the engine
// with it.

import { execFileSync, spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { Handed } from './private-network.ts';

const [ip = '', port = '', command = '', ...args] = process.argv.slice(2);

execFileSync(ip, ['link', 'set', 'lo', 'up']);
const engine = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
engine.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
engine.once('exit', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => engine.kill('SIGTERM'));
// Nobody can ask any more.
process.once('disconnect', () => engine.kill('SIGTERM'));

process.on('message', ({ id }: Handed) => {
  const socket = connect(Number(port), '127.0.0.1');
  const hand = (handed: Handed, open?: typeof socket): void => {
    // It may be gone by now: then there is nobody to tell.
    if (process.connected) process.send?.(handed, open, {}, () => undefined);
  };
  socket.once('error', ({ message }) => hand({ id, error: message }));
  socket.once('connect', () => hand({ id }, socket.pause()));
});
