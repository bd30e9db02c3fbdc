import type { Deployed } from './deployed.ts';

/** One thing AWS would refuse, or take and not do. */
export interface Limit {
  name: string;
  /** Where AWS says so. */
  source: string;
  /** A sentence for each fault: which resource, what it may be at most, what to do. */
  check: (deployed: Deployed) => string[];
}

export const count = (value: number): string => value.toLocaleString('en-US');

/** The lengths AWS counts, in an account of the region with the longest name. */
export function bytes(value: unknown): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.byteLength(text.replaceAll('us-east-1', 'ap-southeast-1'));
}
