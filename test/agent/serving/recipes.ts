import type { Scene } from '../../api/scene.ts';
import type { Call } from '../../api/world.ts';

export const agentReads = {
  'GET /api/v1/agent/bootstrap.sh': async () => ({}),
  'GET /api/v1/agent/cloud-init.yaml': async () => ({}),
  'GET /api/v1/agent/bundle.mjs': async () => ({}),
  'GET /api/v1/agent/release': async () => ({}),
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
