import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import type { Context } from '../platform/context.ts';
import { task } from '../platform/workflow/task.ts';
import { listDue, noteTried } from './due-store.ts';
import { forgetDraft } from './forget-draft.ts';
import { chooseDue, type Due } from '../artifacts/artifact-due.ts';
import { reverifyArtifact } from './reverify-artifact.ts';
import type { Trust } from '../trust/trust-policy.ts';
import { readTrust } from '../artifacts/read-trust.ts';

/** So many in one run; the next comes in minutes. */
const TAKEN_MAX = 1_000;
/** A registry answers several as fast as one. */
const AT_ONCE = 8;
/** What is under way then still has time to end before the function does. */
const RUN_SECONDS_MAX = 80;

/**
 * Looks after what was published: drafts nobody took further are forgotten, and trust is looked at again. Takes no
 * input and trusts only what is stored; running it twice changes nothing the second time.
 */
export async function careForArtifacts(ctx: Context): Promise<void> {
  const endsAt = secondsAfter(ctx.now(), RUN_SECONDS_MAX);
  const trust = await readTrust();
  const chosen = chooseDue(await listDue(), trust.revision, ctx.now(), TAKEN_MAX);
  const waiting = chosen.values();
  const careForSome = async (): Promise<void> => {
    while (ctx.now() < endsAt) {
      const { value: due } = waiting.next();
      if (!due) return;
      await careFor(ctx, due, trust);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, careForSome));
  const left = [...waiting].length;
  if (left > 0) ctx.log.warn('Artifacts are left for the next run.', { left });
}

export const handler = task(v.unknown(), careForArtifacts);

async function careFor(ctx: Context, { artifact_id, lifecycle_state }: Due, trust: Trust): Promise<void> {
  try {
    if (lifecycle_state === 'draft') await forgetDraft(ctx, artifact_id);
    await reverifyArtifact(ctx, artifact_id, trust);
  } catch (error) {
    // The others must not wait for the one that cannot be helped.
    ctx.log.error('An artifact could not be looked after; it stays as it is.', { artifact_id, error });
    await noteTried(artifact_id, ctx.now());
  }
}
