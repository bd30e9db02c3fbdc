import { renameSync, writeFileSync, type WriteFileOptions } from 'node:fs';

/** The file is there with all of its content or not at all, whoever looks and whenever we die. */
export function writeWhole(path: string, content: string | Buffer, options?: WriteFileOptions): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content, options);
  renameSync(draft, path);
}
