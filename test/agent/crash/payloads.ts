// What is asked of hosts in these tests: web servers that answer when they are ready.

import { randomUUID } from 'node:crypto';
import type { Published } from '../engine/platform.ts';

const ownerOf = (workload_id: string) => ({
  workload_id,
  allocation_id: randomUUID(),
  org_id: randomUUID(),
  project_id: randomUUID(),
  stop_grace_seconds: 2,
});

const webServer = (image: Published, change: object = {}) => ({
  name: 'main',
  repository: image.repository,
  digest: image.digest,
  ports: [{ container: 8080, host: 0 }],
  health: { kind: 'http', port: 8080, interval_seconds: 1, failures: 3, start_seconds: 30 },
  resources: { memory_mib: 64, pids: 64 },
  ...change,
});

export const launchOf = (workloadId: string, image: Published, change: object = {}) => ({
  ...ownerOf(workloadId),
  container: webServer(image, change),
});

/** Three services; one waits for the others. */
export const projectOf = (workloadId: string, image: Published, change: object = {}) => ({
  ...ownerOf(workloadId),
  containers: [
    webServer(image, { name: 'data', ports: [] }),
    webServer(image, { name: 'work', ports: [], ...change }),
    webServer(image, { name: 'front', depends_on: ['data', 'work'] }),
  ],
});
