import { nameActor } from '../platform/actor.ts';
import type { Change } from '../platform/data/change.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { isOneTimeToken } from '../platform/auth/one-time-token.ts';
import {
  CredentialView,
  type Intent,
  IntentParams,
  IntentUnwrapped,
  judgeUnwrap,
  subjectOfIntent,
  UnwrapCredential,
  unwrapped,
  type UnwrapRefusal,
  UnwrapRefused,
  viewIntent,
} from './intent.ts';
import { findIntent, saveUnwrapped } from './intent-store.ts';
import { mintCredential } from './mint-credential.ts';
import { refuse } from './problems.ts';

export const unwrapCredential = command(
  {
    summary: 'Exchange the wrapping token for the push credential, once',
    action: 'artifacts.intent.unwrap',
    params: IntentParams,
    body: UnwrapCredential,
    reply: CredentialView,
    refusals: ['intent.unknown', 'intent.wrong_token', 'intent.unwrapped', 'intent.expired'],
  },
  async (ctx, { params, body }): Promise<Change> => {
    const before = await findIntent(projectOf(ctx).id, params.intent_id);
    const { token_hash } = before;
    const isTokenRight = token_hash !== undefined && isOneTimeToken(body.wrapping_token, token_hash);
    const verdict = judgeUnwrap(before, isTokenRight, ctx.now());
    if (verdict === 'intent.expired') throw refuse(verdict);
    if (verdict !== 'unwrap') return refusedUnwrap(before, verdict);

    const after = unwrapped(before, nameActor(ctx.actor), ctx.now());
    const { username, password } = await mintCredential(after);
    const { registry_host, repository, credential_expires_at: expires_at } = after;
    return {
      subject: subjectOfIntent(after),
      before: viewIntent(before, ctx.now()),
      after: viewIntent(after, ctx.now()),
      writes: [saveUnwrapped(after)],
      events: [IntentUnwrapped(after)],
      reply: { registry_host, repository, username, expires_at },
      secrets: { password },
    };
  },
);

/** The request is refused; the attempt is recorded, published as an event, and raises an alarm. */
function refusedUnwrap(intent: Intent, code: UnwrapRefusal): Change {
  return {
    subject: subjectOfIntent(intent),
    after: { refused: code },
    writes: [],
    events: [UnwrapRefused(intent, code)],
    reply: {},
    refusal: refuse(code),
  };
}
