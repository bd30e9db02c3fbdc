import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { IntentId, ProjectId } from '../platform/ids.ts';
import { type Sweep, sweeping } from '../platform/workflow/sweep.ts';
import { type Intent, subjectOfIntent } from './intent.ts';
import { findIntent, listLapsedIntents, saveExpired } from './intent-store.ts';

const EXPIRY: Actor = { kind: 'platform', id: 'intent-expiry' };

/** Marks expired intents as expired. They could not be used any more anyway; now it is recorded. */
export const intentExpiry: Sweep<Pick<Intent, 'id' | 'project_id'>> = {
  noun: 'publish intent',
  find: (ctx) => listLapsedIntents(ctx.now()),
  mend: (ctx, { project_id, id }) => expireIntent(ctx, project_id, id),
  label: ({ id }) => ({ intent_id: id }),
  secondsMax: 80,
};

export const handler = sweeping(intentExpiry);

async function expireIntent(ctx: Context, projectId: ProjectId, id: IntentId): Promise<void> {
  await commitDecision(ctx, 'artifacts.intent.expire', async () => {
    // The index may lag behind.
    const intent = await findIntent(projectId, id);
    if (intent.status !== 'open' || new Date(intent.open_until) > ctx.now()) return undefined;
    return {
      subject: subjectOfIntent(intent),
      before: { status: intent.status },
      after: { status: 'expired' },
      reason: 'The publish intent was not used in time.',
      actor: EXPIRY,
      place: { org_id: intent.org_id, project_id: projectId },
      writes: [saveExpired(intent)],
    };
  });
}
