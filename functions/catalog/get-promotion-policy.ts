import { query } from '../platform/http/endpoint.ts';
import { findPromotionPolicy } from '../promotion/keep-policy.ts';
import { PromotionPolicy } from '../promotion/promotion-policy.ts';

export const getPromotionPolicy = query(
  { summary: 'Get the policy that promotions follow', reply: PromotionPolicy },
  () => findPromotionPolicy(),
);
