import type { Context } from '../platform/context.ts';
import { post } from './post-to-connection.ts';
import { dropConnection, dropSubscription, type Follower, followersOf } from './connection-store.ts';

export type { Follower } from './connection-store.ts';

/** As many as the client has connections for: a post that waits for one would run out of time like a lost one. */
const TOLD_TOGETHER_MAX = 50;

/** Those who follow a topic, to be told one thing after the other. */
export interface Audience {
  tell(message: unknown): Promise<void>;
}

/**
 * Connections that may no longer follow the topic are dropped first. A connection that cannot be reached gets nothing
 * more: the client sees the gap when it subscribes again, and reads what it missed. Otherwise one client could delay
 * the events for all others.
 */
export async function gatherAudience(
  ctx: Pick<Context, 'log' | 'now'>,
  topic: string,
  admit: (followers: Follower[]) => Promise<Follower[]>,
): Promise<Audience> {
  const followers = await followersOf(topic, ctx.now());
  const listening = new Set(await admit(followers));
  const unwelcome = followers.filter((follower) => !listening.has(follower));
  await Promise.all(unwelcome.map((follower) => dropConnection(follower.connectionId, follower)));

  async function tellOne(follower: Follower, message: unknown): Promise<void> {
    const { connectionId } = follower;
    const outcome = await post(connectionId, message).catch((error: unknown) => {
      ctx.log.warn('A message could not be sent to a connection.', {
        topic,
        connection_id: connectionId,
        error,
      });
      return 'lost' as const;
    });
    if (outcome === 'delivered') return;
    listening.delete(follower);
    await (outcome === 'gone' ? dropConnection(connectionId, follower) : dropSubscription(follower));
  }

  return {
    async tell(message) {
      const left = [...listening];
      const tellNext = async (): Promise<void> => {
        for (let follower = left.pop(); follower; follower = left.pop()) await tellOne(follower, message);
      };
      await Promise.all(Array.from({ length: TOLD_TOGETHER_MAX }, tellNext));
    },
  };
}
