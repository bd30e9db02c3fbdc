import type { AssembledStack } from '../template/assembly.ts';
import { boundLimits } from './bounds.ts';
import { Deployed } from './deployed.ts';
import { functionLimits, reservedConcurrency } from './function-limits.ts';
import { gatewayLimits } from './gateway-limits.ts';
import type { Limit } from './limit.ts';
import { mappingLimits } from './mapping-limits.ts';
import { policyLimits } from './policy-limits.ts';
import { scheduleLimits } from './schedule-limits.ts';
import { signInLimits } from './sign-in-limits.ts';
import { stackLimits } from './stack-limits.ts';

const LIMITS: readonly Limit[] = [
  ...stackLimits,
  ...boundLimits,
  ...functionLimits,
  ...policyLimits,
  ...gatewayLimits,
  ...mappingLimits,
  ...scheduleLimits,
  ...signInLimits,
];

/** What Lambda lets an account run at once, unless AWS was asked for more. */
const CONCURRENCY_QUOTA = 1_000;

export interface LimitOptions {
  concurrencyQuota?: number;
}

/** Everything AWS would refuse of these stacks, or take and not do; none where they can be deployed. */
export function beyondLimits(
  stacks: AssembledStack[],
  { concurrencyQuota = CONCURRENCY_QUOTA }: LimitOptions = {},
): string[] {
  const deployed = new Deployed(stacks);
  return [...LIMITS, reservedConcurrency(concurrencyQuota)].flatMap(({ source, check }) =>
    check(deployed).map((fault) => `${fault} (${source})`),
  );
}

export function checkLimits(stacks: AssembledStack[], options?: LimitOptions): void {
  const faults = beyondLimits(stacks, options);
  if (faults.length > 0)
    throw new Error(`AWS would not deploy these stacks:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
}
