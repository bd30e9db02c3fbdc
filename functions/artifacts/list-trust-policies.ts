import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { TrustPolicyPage } from '../trust/trust-policy.ts';
import { listTrustPolicyRows } from './trust-store.ts';

export const listTrustPolicies = query(
  { summary: 'List trust policies', query: v.strictObject(PageQuery), reply: TrustPolicyPage },
  (_, { query: page }) => listTrustPolicyRows(page),
);
