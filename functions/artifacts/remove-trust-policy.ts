import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import {
  aboutTrustPolicy,
  subjectOfTrustPolicy,
  TrustPolicyParams,
  TrustPolicyRemoved,
} from '../trust/trust-policy.ts';
import { findTrustPolicyAndHead, removeTrustPolicy as removePolicy } from './trust-store.ts';
import { refuse } from './problems.ts';

export const removeTrustPolicy = command(
  {
    summary: 'Remove a trust policy; artifacts that no other policy covers are no longer trusted',
    action: 'artifacts.trust_policy.remove',
    params: TrustPolicyParams,
    status: 204,
    refusals: ['trust_policy.unknown', 'precondition.failed'],
  },
  async (ctx, { params: { policy_name } }) => {
    const { head, policy } = await findTrustPolicyAndHead(policy_name);
    if (!policy) throw refuse('trust_policy.unknown');
    const stale = requireVersion(policy, ctx.ifMatch);
    return {
      subject: subjectOfTrustPolicy(policy_name),
      before: aboutTrustPolicy(policy),
      writes: removePolicy(head, policy, stale),
      events: [TrustPolicyRemoved(policy)],
      reply: {},
    };
  },
);
