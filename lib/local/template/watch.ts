import { watch, type FSWatcher } from 'node:fs';
import { join, sep } from 'node:path';
import { say } from '../wire/say.ts';
import { ROOT } from './synthesize.ts';

const SETTLE_MS = 150;
const SOURCES = ['functions', 'state-machines', 'lib'];

export interface Watching {
  /** Resolves when a call under way is over. */
  close(): Promise<void>;
}

/** Calls back after sources of the template changed. The engine's own are not among them. */
export function watchSources(changed: () => Promise<void>): Watching {
  const isSource = (folder: string, file: string): boolean =>
    /\.(ts|json)$/.test(file) && !(folder === 'lib' && file.startsWith(`local${sep}`));
  return watchFolders(ROOT, SOURCES, isSource, changed);
}

/** Calls back after an assembly made elsewhere was written again. */
export function watchAssembly(assembly: string, changed: () => Promise<void>): Watching {
  return watchFolders(assembly, ['.'], (_, file) => file.endsWith('.json'), changed);
}

/** One call at a time, once a burst of changes is over. `changed` tells of its failures itself. */
function watchFolders(
  root: string,
  folders: string[],
  counts: (folder: string, file: string) => boolean,
  changed: () => Promise<void>,
): Watching {
  let timer: NodeJS.Timeout | undefined;
  let calls = Promise.resolve();
  const watchers = folders.flatMap((folder) =>
    watchFolder(join(root, folder), folder !== '.', (file) => {
      if (!counts(folder, file)) return;
      clearTimeout(timer);
      timer = setTimeout(() => (calls = calls.then(changed)), SETTLE_MS);
    }),
  );
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      return calls;
    },
  };
}

/** A folder that cannot be watched costs the reload, not the platform. */
function watchFolder(path: string, recursive: boolean, noticed: (file: string) => void): FSWatcher[] {
  const lost = (error: unknown): void =>
    say('reload', `changes in ${path} are not noticed (${String(error)}); start again to apply them.`);
  try {
    const watcher = watch(path, { recursive }, (_, file) => file !== null && noticed(file));
    return [watcher.on('error', lost)];
  } catch (error) {
    lost(error);
    return [];
  }
}
