import * as v from 'valibot';
import { command } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { PLATFORM } from '../platform/data/keys.ts';
import { eventTopic } from '../events/keys.ts';
import { issueTicket } from '../events/issue-ticket.ts';
import { holderOf } from '../events/ticket-holder.ts';
import {
  planSelftest,
  SelftestRequested,
  SelftestView,
  subjectOfSelftest,
  viewSelftest,
} from './selftest.ts';
import { insertSelftest } from './selftest-store.ts';
import { refuse } from './problems.ts';

export const requestSelftest = command(
  {
    summary: 'Start a self-test: send one task through every kind of connection the platform uses',
    action: 'selftest.request',
    reply: v.object({
      ...SelftestView.entries,
      /** Opens one WebSocket connection that follows the platform’s events: the end of the run is one of them. */
      ticket: v.string(),
      socket_url: v.string(),
    }),
    status: 202,
    denied: (detail) => refuse('selftest.denied', { detail }),
  },
  (ctx) => {
    const now = ctx.now();
    const run = planSelftest(ctx.newId(), ctx, now);
    const ticket = issueTicket({ topic: eventTopic(PLATFORM), holder: holderOf(ctx) }, now);
    const view = viewSelftest(run);
    // Each of the two routes leads on to its own: a person has a token, the platform team AWS credentials.
    const base = ctx.actor.kind === 'platform_team' ? '/api/v1/selftests' : '/api/v1/admin/selftests';
    return {
      subject: subjectOfSelftest(run.id),
      after: view,
      writes: [insertSelftest(run), ticket.write],
      events: [SelftestRequested(run)],
      location: `${base}/${run.id}`,
      reply: { ...view, socket_url: environment('SOCKET_URL') },
      secrets: { ticket: ticket.secret },
    };
  },
);
