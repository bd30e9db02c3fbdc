import { commitDecision } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import { listLapsedIntents, saveExpired } from '../retention/due-store.ts';
import { subjectOfIntent } from './intent.ts';
import { findIntent } from './intent-store.ts';
import { CARE } from '../retention/reverify-artifact.ts';

/** Ends the intents whose time is over. Nobody could use them any more; from now on it is written down. */
export async function expireIntents(ctx: Context): Promise<void> {
  for (const { project_id, id } of await listLapsedIntents(ctx.now())) {
    try {
      await expireIntent(ctx, project_id, id);
    } catch (error) {
      // The others must not wait for the one that cannot be helped.
      ctx.log.error('A publish intent could not be ended.', { intent_id: id, error });
    }
  }
}

async function expireIntent(ctx: Context, projectId: string, id: string): Promise<void> {
  await commitDecision(ctx, 'artifacts.intent.expire', async () => {
    // The index may lag behind.
    const intent = await findIntent(projectId, id);
    if (intent.status !== 'open' || new Date(intent.open_until) > ctx.now()) return undefined;
    return {
      subject: subjectOfIntent(intent),
      before: { status: intent.status },
      after: { status: 'expired' },
      reason: 'Nobody used it in time.',
      actor: CARE,
      place: { org_id: intent.org_id, project_id: projectId },
      writes: [saveExpired(intent)],
    };
  });
}
