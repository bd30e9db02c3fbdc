import { commitDecision, type Decision } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import type { Artifact } from './artifact.ts';
import { stopRequestedBy } from './revocation.ts';
import { findInstances, markStopping } from './revocation-store.ts';
import { countAsked } from './stopping-store.ts';
import { type InstanceUse, runs } from './usage.ts';

const REVOCATION = { kind: 'platform', id: 'artifact-revocation' } as const;

/** Each has three writes of its own, and a transaction has room for a hundred. */
const TOGETHER_MAX = 30;

/** Asks those of the instances that run this artifact to stop, in any project, each of them once. */
export async function askAllToStop(
  ctx: Context,
  artifact: Artifact,
  instances: InstanceUse[],
): Promise<void> {
  const toStop = instances.filter((instance) => isToStop(instance, artifact));
  for (const each of groupsOf(toStop)) await askToStop(ctx, artifact, each);
}

const isToStop = (instance: InstanceUse, artifact: Artifact): boolean =>
  instance.stop_requested_at === undefined && runs(instance, artifact);

/** Each group belongs to one project, because each project has its own audit log. */
function groupsOf(instances: InstanceUse[]): InstanceUse[][] {
  return [...Map.groupBy(instances, ({ project_id }) => project_id).values()].flatMap((own) =>
    Array.from({ length: Math.ceil(own.length / TOGETHER_MAX) }, (_, index) =>
      own.slice(index * TOGETHER_MAX, (index + 1) * TOGETHER_MAX),
    ),
  );
}

async function askToStop(ctx: Context, artifact: Artifact, listed: InstanceUse[]): Promise<void> {
  await commitDecision(ctx, 'apps.instance.request_stop', async () => {
    // Some may have ended since, or have been asked already if the step is run twice.
    const running = await findInstances(artifact.digest, listed);
    const toStop = running.filter((instance) => isToStop(instance, artifact));
    return decideStop(artifact, toStop, ctx.now());
  });
}

function decideStop(artifact: Artifact, instances: InstanceUse[], now: Date): Decision | undefined {
  const after = { stop_requested_at: now.toISOString(), artifact_id: artifact.id };
  const [first, ...also] = instances.map(({ app_instance_id }) => ({
    subject: `instance:${app_instance_id}`,
    after,
  }));
  if (!first || !instances[0]) return undefined;
  const { org_id, project_id } = instances[0];
  return {
    ...first,
    also,
    reason: artifact.revoked?.reason,
    actor: REVOCATION,
    place: { org_id, project_id },
    writes: [
      ...instances.map((instance) => markStopping(artifact.digest, instance, now)),
      countAsked(artifact, instances.length, now),
    ],
    events: instances.map((instance) => stopRequestedBy(artifact, instance)),
  };
}
