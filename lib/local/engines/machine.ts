import { accessSync, constants, statSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { EngineAddress } from '../wire/forward.ts';

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

/** An address of this machine that nobody listens on, for a program that has no network of its own. */
export async function freeAddress(): Promise<{ url: string; port: number; agent?: undefined }> {
  const port = await findFreePort();
  return { url: `http://127.0.0.1:${port}`, port };
}

/** The status with which an engine answers a request for nothing in particular. */
export function statusAt({ url, agent }: EngineAddress, path = '/'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = get(url + path, { agent, signal: AbortSignal.timeout(1_000) }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('error', reject);
  });
}
