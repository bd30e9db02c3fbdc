import * as v from 'valibot';
import { feedKey, feedPartition } from '../platform/data/keys.ts';
import { queryPage } from '../platform/data/table.ts';
import type { ProjectId } from '../platform/ids.ts';
import { FeedEvent, settled } from './feed.ts';
import type { EventView } from './event-view.ts';

const SEQUENCE_MAX = 999_999_999_999_999;

const Row = v.object({ ...FeedEvent.entries, expires_at: v.number() });

/** The next events of a project's feed. Read consistently: an event missed here would never be read again. */
export async function readFeed(
  projectId: ProjectId,
  after: number,
  limit: number,
  now: Date,
): Promise<EventView[]> {
  const { items } = await queryPage({
    condition: 'pk = :feed AND sk BETWEEN :first AND :last',
    values: {
      ':feed': feedPartition(projectId),
      ':first': feedKey(projectId, after + 1).sk,
      ':last': feedKey(projectId, SEQUENCE_MAX).sk,
    },
    limit,
    consistent: true,
  });
  const rows = items.map((item) => v.parse(Row, item));
  return settled(rows, after, now).map((row) => v.parse(FeedEvent, row));
}
