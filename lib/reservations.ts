import type { IConstruct, IValidation } from 'constructs';
import { configOf } from './config.ts';
import { PlatformFunction } from './platform-function.ts';

/** Lambda refuses reservations that leave less than this for functions without one. */
const UNRESERVED_MIN = 100;

/** The functions of all stacks share the account's concurrency: what they reserve has to fit into it. */
export class Reservations implements IValidation {
  private readonly app: IConstruct;

  constructor(app: IConstruct) {
    this.app = app;
  }

  validate(): string[] {
    const { lambdaConcurrencyQuota: quota } = configOf(this.app);
    const reserved = this.app.node
      .findAll()
      .reduce((sum, each) => sum + (each instanceof PlatformFunction ? each.reserved : 0), 0);
    return complaints(reserved, quota);
  }
}

export function complaints(reserved: number, quota: number): string[] {
  if (reserved === 0 || reserved + UNRESERVED_MIN <= quota) return [];
  return [
    `The functions reserve ${reserved} of the account's ${quota} concurrent executions, and Lambda keeps ${UNRESERVED_MIN} unreserved. ` +
      `Ask AWS for a higher quota and state it with -c lambda_concurrency_quota=${reserved + UNRESERVED_MIN}, or deploy without reserved_concurrency.`,
  ];
}
