import type { Config } from '../config/config.ts';
import { createQueueAccess } from '../queue/queue-access.ts';
import { readNodeKey } from '../platform/node-key.ts';
import { createNodeTokens } from '../platform/node-token.ts';
import { createPlatformClient } from '../platform/platform-client.ts';

/** As this node, with its key. Nothing is asked yet. */
export function connect(config: Config, stateDir: string, now: () => Date) {
  const key = readNodeKey(stateDir);
  const ask = createPlatformClient(config.url, createNodeTokens(config.url, config.node_id, key, now));
  return { key, ask, access: createQueueAccess(ask, config.node_id, now) };
}
