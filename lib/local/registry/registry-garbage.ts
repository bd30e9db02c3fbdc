import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { say } from '../wire/say.ts';

const run = promisify(execFile);

/** Beside the storage: the registry knows nothing of it. */
const noteOf = (storageDir: string): string => join(dirname(storageDir), 'deleted');

/** Something was deleted; the layers nobody refers to any more stay on disk until the registry next starts. */
export function noteDeletion(storageDir: string): void {
  writeFileSync(noteOf(storageDir), '');
}

/** Frees their space. The registry does that only while it is stopped, and reads every manifest for it. */
export async function freeDeleted(command: string, configFile: string, storageDir: string): Promise<void> {
  const note = noteOf(storageDir);
  if (!existsSync(note)) return;
  try {
    await run(command, ['garbage-collect', configFile]);
    rmSync(note);
  } catch (error) {
    say('registry', `the space of deleted images was not freed yet. ${(error as Error).message}`);
  }
}
