import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { IntentParams, IntentView, viewIntent } from './intent.ts';
import { findIntent } from './intent-store.ts';

export const getIntent = query(
  {
    summary: 'Get a publish intent',
    params: IntentParams,
    reply: IntentView,
    refusals: ['intent.unknown'],
  },
  async (ctx, { params }) => viewIntent(await findIntent(projectOf(ctx).id, params.intent_id), ctx.now()),
);
