import * as v from 'valibot';
import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import { task } from '../platform/workflow/task.ts';
import { subjectOfIntent } from './intent.ts';
import { findIntent, listLapsedIntents, saveExpired } from './intent-store.ts';

const EXPIRY: Actor = { kind: 'platform', id: 'intent-expiry' };

/**
 * Ends the intents whose time is over. Nobody could use them any more; from now on it is written down. Takes no input
 * and trusts only what is stored; running it twice changes nothing the second time.
 */
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

export const handler = task(v.unknown(), expireIntents);

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
      actor: EXPIRY,
      place: { org_id: intent.org_id, project_id: projectId },
      writes: [saveExpired(intent)],
    };
  });
}
