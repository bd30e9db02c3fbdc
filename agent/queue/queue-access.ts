import { SQSClient } from '@aws-sdk/client-sqs';
import { QueueCredentials } from '../../functions/nodes/agent-api.ts';
import { nodePath } from '../platform/paths.ts';
import type { AskPlatform } from '../platform/platform-client.ts';

/** A long poll lasts 20 seconds and a task longer: they are renewed well before they end. */
const MARGIN_MS = 10 * 60_000;

export interface QueueAccess {
  sqs: SQSClient;
  url: string;
}

/** The node's own queue, with credentials for it and nothing else. */
export function createQueueAccess(ask: AskPlatform, nodeId: string, now: () => Date) {
  let held: (QueueAccess & { renewAtMs: number }) | undefined;
  let pending: Promise<QueueAccess> | undefined;

  async function open(): Promise<QueueAccess> {
    const path = nodePath(nodeId, '/queue-credentials');
    const credentials = await ask({ method: 'POST', path, body: {} }, QueueCredentials);
    const endMs = Date.parse(credentials.expires_at);
    const lifeMs = endMs - now().getTime();
    // The one before may still be in use by a task that runs: it closes by itself when nobody has it any more.
    held = {
      sqs: clientOf(credentials),
      url: credentials.queue_url,
      renewAtMs: endMs - Math.min(MARGIN_MS, lifeMs / 2),
    };
    return held;
  }

  return {
    get(): Promise<QueueAccess> {
      if (held && now().getTime() < held.renewAtMs) return Promise.resolve(held);
      pending ??= open().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    /** They do not work: the next one who asks gets new ones. */
    drop(): void {
      held = undefined;
    },
  };
}

function clientOf(credentials: QueueCredentials): SQSClient {
  return new SQSClient({
    region: credentials.region,
    // The queue's address says where it is; no variable of this machine's environment does.
    endpoint: new URL(credentials.queue_url).origin,
    credentials: {
      accessKeyId: credentials.access_key_id,
      secretAccessKey: credentials.secret_access_key,
      sessionToken: credentials.session_token,
    },
    maxAttempts: 2,
    // A long poll takes its 20 seconds; a connection that died without a word must not hold the queue for ever.
    requestHandler: { requestTimeout: 35_000, connectionTimeout: 5_000 },
  });
}
