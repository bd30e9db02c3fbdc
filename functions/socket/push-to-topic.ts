import { post } from './post.ts';
import { dropConnection, followersOf } from './store.ts';

/** Tells everybody who follows the topic, and forgets those who have left without a word. */
export async function pushToTopic(topic: string, message: unknown, now: Date): Promise<void> {
  for (const { connectionId } of await followersOf(topic, now)) {
    const outcome = await post(connectionId, message);
    if (outcome === 'gone') await dropConnection(connectionId, topic);
  }
}
