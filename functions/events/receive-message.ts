import * as v from 'valibot';
import type { Context } from '../platform/context.ts';
import type { ConnectionId } from '../platform/ids.ts';
import { parse } from '../platform/parse.ts';
import { problemOf } from '../platform/http/problem.ts';
import { describeFeed } from './describe-feed.ts';
import { placeOfTopic } from './keys.ts';
import { post } from './post-to-connection.ts';
import { socketRoute } from './socket-route.ts';
import { mayFollow } from './admit-followers.ts';
import { dropConnection, findConnection, forgetConnection, subscribe } from './connection-store.ts';
import { refuse } from './problems.ts';

const Message = v.pipe(
  v.string(),
  v.maxLength(1_024),
  v.parseJson(),
  v.strictObject({ action: v.literal('subscribe') }),
);

export const handler = socketRoute(async (ctx, event) => {
  const { connectionId } = event.requestContext;
  const reply = await replyTo(ctx, connectionId, event.body).catch((error: unknown) => {
    ctx.log.warn('A socket message was refused.', { error });
    return { type: 'problem', problem: problemOf(error, ctx.correlationId) };
  });
  if ((await post(connectionId, reply)) === 'gone') await forgetConnection(connectionId, ctx.now());
});

async function replyTo(ctx: Context, connectionId: ConnectionId, body: unknown): Promise<unknown> {
  parse(Message, body, (more) => refuse('message.invalid', more));
  const admission = await findConnection(connectionId, ctx.now());
  if (!admission) throw refuse('connection.unknown');
  if (!(await mayFollow(admission, ctx.now))) {
    await dropConnection(connectionId, admission);
    throw refuse('connection.unknown');
  }
  // Subscribe, then read: an event in between is delivered twice rather than never.
  await subscribe(connectionId, admission, ctx.now());
  return { type: 'subscribed', ...(await describeFeed(placeOfTopic(admission.topic))) };
}
