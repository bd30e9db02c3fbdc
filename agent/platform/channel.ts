import type { KeyObject } from 'node:crypto';
import { SecretValue } from '../../functions/tasks/agent-api.ts';
import type { Config } from '../config/config.ts';
import type { ReportJournal } from '../journal/report-journal.ts';
import type { PlatformChannel } from '../tasks/performer.ts';
import { TaskFailed } from '../tasks/performer.ts';
import { signWith } from './node-key.ts';
import { nodePath } from './paths.ts';
import type { AskPlatform } from './platform-client.ts';
import { createPullCredentials } from './pull-credentials.ts';
import { createTrustCache } from './trust-cache.ts';

export interface ChannelParts {
  config: Pick<Config, 'node_id' | 'host_key'>;
  key: KeyObject;
  ask: AskPlatform;
  reports: ReportJournal;
  now: () => Date;
}

/** What performers get of the platform. */
export function createChannel({ config, key, ask, reports, now }: ChannelParts): PlatformChannel {
  const { node_id } = config;
  return {
    pullCredentials: createPullCredentials(ask, node_id, now),
    trust: createTrustCache(ask, config, now),
    async secret(handle, fetchId) {
      const path = nodePath(node_id, '/secrets');
      const body = { handle, fetch_id: fetchId };
      try {
        const { value } = await ask({ method: 'POST', path, body }, SecretValue);
        return new Uint8Array(Buffer.from(value, 'base64'));
      } catch (error) {
        throw new TaskFailed('secret_unavailable', (error as Error).message);
      }
    },
    sign: (payload) => signWith(key, payload, node_id),
    tellWorkload(workloadId, status) {
      const path = nodePath(node_id, `/workloads/${workloadId}/status`);
      reports.keep(`workload:${workloadId}`, path, status, now());
    },
  };
}
