import { chooseDue, type Due } from '../artifacts/artifact-due.ts';
import { readTrust } from '../artifacts/read-trust.ts';
import { type Sweep, sweeping } from '../platform/workflow/sweep.ts';
import type { Trust } from '../trust/trust-policy.ts';
import { listDue, noteTried } from './due-store.ts';
import { forgetDraft } from './forget-draft.ts';
import { reverifyArtifact } from './reverify-artifact.ts';

/** So many in one run; the next comes in minutes. */
const TAKEN_MAX = 1_000;

/** Drafts nobody took further are forgotten, and trust is looked at again. */
export const maintenance: Sweep<Due & { trust: Trust }> = {
  noun: 'artifact',
  find: async (ctx) => {
    const trust = await readTrust();
    const chosen = chooseDue(await listDue(), trust.revision, ctx.now(), TAKEN_MAX);
    return chosen.map((due) => ({ ...due, trust }));
  },
  mend: async (ctx, { artifact_id, lifecycle_state, trust }) => {
    if (lifecycle_state === 'draft') await forgetDraft(ctx, artifact_id);
    await reverifyArtifact(ctx, artifact_id, trust);
  },
  label: ({ artifact_id }) => ({ artifact_id }),
  failed: (ctx, { artifact_id }) => noteTried(artifact_id, ctx.now()),
  // A registry answers several as fast as one.
  atOnce: 8,
  secondsMax: 80,
};

export const handler = sweeping(maintenance);
