import { PullCredentials } from '../../functions/tasks/agent-api.ts';
import { nodePath } from './paths.ts';
import type { AskPlatform } from './platform-client.ts';

/** Not used for a pull that may outlive them. */
const MARGIN_MS = 5 * 60_000;
const KEPT_MAX = 100;

/** By the repositories they are for, until shortly before they expire. */
export function createPullCredentials(ask: AskPlatform, nodeId: string, now: () => Date) {
  const held = new Map<string, PullCredentials>();
  const isFresh = ({ expires_at }: PullCredentials) => Date.parse(expires_at) - MARGIN_MS > now().getTime();
  return async (repositories: string[]): Promise<PullCredentials> => {
    const wanted = [...new Set(repositories)].sort();
    const key = wanted.join('\n');
    const known = held.get(key);
    if (known && isFresh(known)) return known;
    const path = nodePath(nodeId, '/pull-credentials');
    const credentials = await ask({ method: 'POST', path, body: { repositories: wanted } }, PullCredentials);
    held.delete(key);
    held.set(key, credentials);
    const [oldest] = held.keys();
    if (held.size > KEPT_MAX && oldest !== undefined) held.delete(oldest);
    return credentials;
  };
}
