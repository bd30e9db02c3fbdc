// What tasks are about, made with the domain's own rules and writes.

import type { Artifact } from '../../functions/artifacts/artifact.ts';
import type { Project } from '../../functions/identity/project.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { refuse } from '../../functions/storage/problems.ts';
import { saveOpened } from '../../functions/storage/keep-repository.ts';
import * as v from 'valibot';
import { planTask, type PlannedTask } from '../../functions/tasks/plan-task.ts';
import { type Payload, payloadSchema } from '../../functions/tasks/task.ts';
import type { Scene } from '../api/scene.ts';
import { commitAgain } from '../commit-again.ts';

/** An image that is registered and verified, in the repository of its project. */
export async function addImage(scene: Scene, of: Project, stated: Partial<Artifact> = {}): Promise<Artifact> {
  const artifact = await scene.artifact(of, { trust_state: 'verified', ...stated });
  const { repository: name, org_id, project_id, app_slug, created_at } = artifact;
  const opened = { name, org_id, project_id, app_slug, open_until: created_at };
  await commitAgain([saveOpened(opened, created_at, refuse('unavailable'))]);
  return artifact;
}

export const launchOf = (
  { repository, digest }: Artifact,
  { id, org_id }: Project,
  stated: object = {},
): Payload<'oci.launch'> =>
  v.parse(payloadSchema('oci.launch'), {
    workload_id: newId(),
    allocation_id: newId(),
    org_id,
    project_id: id,
    container: { name: 'app', repository, digest },
    ...stated,
  });

/** A node that was asked to launch an image, and has not answered. */
export async function launchOn(
  scene: Scene,
): Promise<{ node: Awaited<ReturnType<Scene['node']>>; artifact: Artifact; task: PlannedTask['task'] }> {
  const [{ project }, node] = [await scene.place(), await scene.node()];
  const artifact = await addImage(scene, project);
  const ctx = {
    actor: { kind: 'platform', id: 'test' } as const,
    correlationId: newId(),
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    newId,
    now: () => new Date(),
  };
  const { repository, digest, project_id } = artifact;
  const { task, writes } = await planTask(
    ctx,
    { node_id: node.id, kind: 'oci.launch', payload: launchOf(artifact, project), deadline_seconds: 600 },
    [{ repository, digest, publisher_project_id: project_id }],
  );
  await commit(writes);
  return { node, artifact, task };
}
