import { readdirSync, readFileSync } from 'node:fs';

/** Everything the platform started that is still alive, by the command line it was started with. */
export function childrenOf(dataDir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((command) => command.includes(dataDir));
}
