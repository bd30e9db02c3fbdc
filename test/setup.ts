// Once in a process, which may run many files one after the other.
const here = globalThis as { isTestProcess?: boolean };
if (!here.isTestProcess) {
  here.isTestProcess = true;
  hideLogs();
  // The runner was killed: nobody would end this process, and with it the engines it has started.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}

/** What functions log is for whoever runs a platform; here it would bury what failed. LOGS=1 shows it. */
function hideLogs(): void {
  if (process.env['LOGS']) return;
  const write = process.stdout.write.bind(process.stdout);
  const isLogged = (chunk: unknown): boolean => typeof chunk === 'string' && chunk.startsWith('{"level":');
  process.stdout.write = ((...args: Parameters<typeof write>) =>
    isLogged(args[0]) || write(...args)) as typeof write;
}
