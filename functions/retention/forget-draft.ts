import { commitDecision } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import type { ArtifactId } from '../platform/ids.ts';
import { aboutArtifact, subjectOfArtifact } from '../artifacts/artifact.ts';
import { isBound } from '../artifacts/artifact-binding.ts';
import { findAnyArtifactPromotion } from '../artifacts/find-artifact.ts';
import { removeArtifact } from '../artifacts/save-artifact.ts';
import { findBound, holdVersion } from '../artifacts/find-bound-version.ts';
import { postponeDue } from './due-store.ts';
import { ArtifactForgotten, dueTasks } from '../artifacts/artifact-due.ts';
import { MAINTENANCE } from './reverify-artifact.ts';

/** Forgets a draft nobody took further. One that a version names, or that is being promoted, is kept for now. */
export async function forgetDraft(ctx: Context, id: ArtifactId): Promise<void> {
  await commitDecision(ctx, 'artifacts.artifact.forget', async () => {
    const found = await findAnyArtifactPromotion(id);
    // The index may lag behind.
    if (!found) return undefined;
    const { artifact, promotion } = found;
    if (!dueTasks(artifact, 0, ctx.now()).includes('forget')) return undefined;
    const bound = await findBound(artifact);
    if (isBound(bound, artifact) || promotion?.status === 'running') {
      await postponeDue(id, ctx.now());
      return undefined;
    }
    return {
      subject: subjectOfArtifact(artifact),
      before: aboutArtifact(artifact),
      reason: 'The draft was not promoted in time, and no version uses it.',
      actor: MAINTENANCE,
      place: { org_id: artifact.org_id, project_id: artifact.project_id },
      writes: [...removeArtifact(artifact), holdVersion(artifact, bound)],
      events: [ArtifactForgotten(artifact)],
    };
  });
}
