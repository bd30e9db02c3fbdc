import { query } from '../platform/http/endpoint.ts';
import { TrustPolicy, TrustPolicyParams } from '../trust/trust-policy.ts';
import { findTrustPolicy } from './trust-store.ts';
import { refuse } from './problems.ts';

export const getTrustPolicy = query(
  {
    summary: 'Get a trust policy',
    params: TrustPolicyParams,
    reply: TrustPolicy,
    refusals: ['trust_policy.unknown'],
  },
  async (_, { params }) => {
    const policy = await findTrustPolicy(params.policy_name);
    if (!policy) throw refuse('trust_policy.unknown');
    return policy;
  },
);
