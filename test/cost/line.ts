import { costOf, type PriceName } from './prices.ts';

/** One line of a bill. */
export interface Line {
  what: string;
  count: number;
  price: PriceName;
  /** Where the count comes from. */
  why: string;
}

export const HOURS_A_MONTH = 730;

export const usdOf = ({ price, count }: Line): number => costOf(price, count);

export const sumOf = (lines: Line[]): number => lines.reduce((sum, line) => sum + usdOf(line), 0);
