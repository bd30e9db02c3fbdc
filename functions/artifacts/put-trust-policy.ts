import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import {
  aboutTrustPolicy,
  planTrustPolicy,
  PutTrustPolicy,
  requirePatternFree,
  requireUsable,
  subjectOfTrustPolicy,
  TrustPolicy,
  TrustPolicyChanged,
  TrustPolicyParams,
} from '../trust/trust-policy.ts';
import { findTrustPolicyAndHead, saveTrustPolicy } from './trust-store.ts';

export const putTrustPolicy = command(
  {
    summary: 'Create or replace a trust policy; the artifacts it covers are verified again',
    action: 'artifacts.trust_policy.put',
    params: TrustPolicyParams,
    body: PutTrustPolicy,
    reply: TrustPolicy,
    refusals: ['trust_policy.pattern_taken', 'trust_policy.too_many', 'precondition.failed'],
  },
  async (ctx, { params: { policy_name }, body }) => {
    const now = ctx.now();
    requireUsable(body, now);
    const { head, policy: before } = await findTrustPolicyAndHead(policy_name);
    const stale = requireVersion({ version: before?.version ?? 0 }, ctx.ifMatch);
    requirePatternFree(head, policy_name, body.repository_pattern);
    const after = planTrustPolicy(before, policy_name, body, nameActor(ctx.actor), now);
    return {
      subject: subjectOfTrustPolicy(policy_name),
      before: aboutTrustPolicy(before),
      after: aboutTrustPolicy(after),
      writes: saveTrustPolicy(head, before, after, stale),
      events: [TrustPolicyChanged(after)],
      reply: { ...after },
    };
  },
);
