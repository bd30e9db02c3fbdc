import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Looks through PATH and the folders of system programs, which an ordinary user's PATH leaves out. */
export function findCommand(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * A port nobody listens on, below the range from which the kernel serves outgoing connections: a child that
 * is down for a moment finds its port free again.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFreePort(port)) return port;
  }
  throw new Error('No free TCP port was found between 20000 and 32000.');
}

export function isFreePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
