import * as v from 'valibot';
import { queueConsumer } from './consumer.ts';
import type { Context } from '../context.ts';
import type { EventKind, EventOf } from '../events.ts';
import { OutboxRow, Pointer } from '../data/outbox.ts';
import { outboxKey } from '../data/keys.ts';
import { readItem } from '../data/table.ts';

/** What a domain does about an event. The event may be delivered twice, so a reaction must be idempotent. */
export type Reaction<K extends EventKind> = (ctx: Context, event: EventOf<K>) => Promise<void>;

interface Reacting {
  kind: EventKind;
  react(ctx: Context, event: unknown): Promise<void>;
}

/** The kind of event, and what is done about it. */
export function on<K extends EventKind>(kind: K, react: Reaction<K>): Reacting {
  return { kind, react: (ctx, event) => react(ctx, event as EventOf<K>) };
}

/** The function that reads a domain's queue of pointers and does what the domain does about these events. */
export function reactions(...all: Reacting[]): ReturnType<typeof queueConsumer> & { types: string[] } {
  const byType = new Map(all.map((each) => [each.kind.type, each]));
  const handler = queueConsumer(Pointer, async (ctx, { place, event_id }) => {
    const row = await readItem(outboxKey(place, event_id));
    if (!row) return ctx.log.warn('The event is no longer in the outbox.', { place, event_id });
    const { event } = v.parse(OutboxRow, row);
    const reacting = byType.get(event.type);
    if (!reacting)
      throw new Error(`There is no reaction to ${event.type}, although functions/events.ts lists one.`);
    const data = v.parse(reacting.kind.schema, event.data);
    const { type, org_id, project_id } = event;
    const log = ctx.log.with({ event_id, event_type: type, org_id, project_id });
    await reacting.react({ ...ctx, log }, { ...event, data });
    log.info('The domain reacted to the event.');
  });
  return Object.assign(handler, { types: [...byType.keys()] });
}
