import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The file is there with all of its content or as it was, whenever the machine stops; and then it stays. */
export function writeWhole(path: string, content: string | Uint8Array, { mode }: { mode: number }): void {
  const draft = `${path}.draft`;
  const file = openSync(draft, 'w', mode);
  try {
    fchmodSync(file, mode);
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** A new name is only certain once its folder was written too. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
