import { readFileSync } from 'node:fs';
import { SigningError } from '../signing/signing-error.ts';

/** A file that was named on the command line. */
export function readNamedFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadableFile(path, error);
  }
}

export function unreadableFile(path: string, error: unknown): SigningError {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT'
    ? new SigningError('not_found', `There is no file ${path}.`, 'Check the path.')
    : new SigningError(
        'failed',
        `${path} cannot be read (${code}).`,
        'Check that it is a file you may read.',
      );
}

export function readNamedJson(path: string): unknown {
  try {
    return JSON.parse(readNamedFile(path).toString('utf8'));
  } catch (error) {
    if (error instanceof SigningError) throw error;
    throw new SigningError('failed', `${path} is not JSON.`, 'Give a file with one JSON document.');
  }
}
