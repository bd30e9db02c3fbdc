import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { sequenceAt } from './feed.ts';
import { EventPage, pageOfEvents } from './event-view.ts';
import { readFeed } from './event-store.ts';
import { ProjectParams } from '../identity/project.ts';

export const listEvents = query(
  {
    summary: 'List the events of a project in order, from a cursor',
    params: ProjectParams,
    query: v.strictObject(PageQuery),
    reply: EventPage,
  },
  async (ctx, { query: { cursor, limit } }) => {
    const after = sequenceAt(cursor);
    return pageOfEvents(await readFeed(projectOf(ctx).id, after, limit, ctx.now()), after);
  },
);
