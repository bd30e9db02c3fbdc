// Whether a release may take the place of the running one. Pure.

import type { AgentRelease } from '../../functions/nodes/agent-api.ts';
import { compareVersions } from '../../functions/platform/version-number.ts';
import type { Payload } from '../../functions/tasks/task.ts';

/** Why not; nothing if it may. */
export function releaseFault(
  release: AgentRelease,
  { version, digest }: Payload<'agent.update'>,
  running: string,
): string | undefined {
  if (release.version !== version || release.digest !== digest)
    return `The platform's signed release is ${release.version} (${release.digest}), and the task asks for ${version} (${digest}).`;
  // Old signatures stay valid: somebody who keeps one could bring back a release with a known hole.
  if (compareVersions(version, running) < 0 && release.downgrade_from !== running)
    return `Version ${version} is older than ${running}, which runs, and is not signed to replace it.`;
  return undefined;
}

/** Beside the bundle, as the platform serves both. */
export const releasePath = (bundlePath: string): string => bundlePath.replace(/[^/]*$/, 'release');
