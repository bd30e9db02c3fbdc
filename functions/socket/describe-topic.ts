import { describeFeed } from '../relay/describe-feed.ts';
import { EVENT_TOPICS } from '../relay/keys.ts';
import { describeSelftest } from '../selftest/describe-selftest.ts';
import { SELFTEST_TOPICS } from '../selftest/keys.ts';

/** What somebody is told who begins to follow a topic, by what the topic's name begins with. */
const DESCRIPTIONS: Record<string, (id: string) => Promise<Record<string, unknown>>> = {
  [EVENT_TOPICS]: describeFeed,
  [SELFTEST_TOPICS]: describeSelftest,
};

export async function describeTopic(topic: string): Promise<Record<string, unknown>> {
  const start = topic.indexOf('/') + 1;
  return (await DESCRIPTIONS[topic.slice(0, start)]?.(topic.slice(start))) ?? {};
}
