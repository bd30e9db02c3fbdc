import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from '../../../lib/local/engines/machine.ts';

const run = promisify(execFile);

export type DockerCli = (...args: string[]) => Promise<string>;

/** The docker command against one engine, with a folder of its own for credentials. */
export function dockerCli(host: string, configDir: string): DockerCli {
  return async (...args) =>
    (await run('docker', ['--host', host, '--config', configDir, ...args])).stdout.trim();
}

/** There are no public images here: one with nothing in it but Debian's static busybox. */
export async function importBusybox(docker: DockerCli, name: string): Promise<void> {
  const busybox = findCommand('busybox');
  if (busybox === undefined) throw new Error('busybox is missing: apt-get install busybox-static');
  const root = mkdtempSync(join(tmpdir(), 'image-'));
  mkdirSync(join(root, 'bin'));
  copyFileSync(busybox, join(root, 'bin', 'busybox'));
  for (const applet of ['sh', 'httpd', 'sleep']) symlinkSync('busybox', join(root, 'bin', applet));
  await run('tar', ['-C', root, '-cf', join(root, 'image.tar'), 'bin']);
  await docker('import', join(root, 'image.tar'), name);
  rmSync(root, { recursive: true });
}
