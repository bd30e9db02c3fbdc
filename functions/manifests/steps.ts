// Counts what a check does, so that no body within the limits keeps a function busy: whatever is done for each value
// takes steps, and with too many of them the check ends. A count is the same on every machine; time is not.

import { STEPS_MAX } from './manifest-bounds.ts';

/** What things take, by how long they take compared with one state of a pattern: some 20 ns. */
export const COST = {
  /** A value or a keyword that is looked at. */
  value: 10,
  /** A name that is looked up. */
  member: 5,
  /** A value inside another that is written as canonical JSON. */
  written: 20,
  fault: 50,
  /** A pattern that is compiled, and each of its states. */
  pattern: 500,
  state: 5,
};

export class TooManySteps extends Error {}

export class Steps {
  taken = 0;
  private readonly max: number;

  constructor(max = STEPS_MAX) {
    this.max = max;
  }

  get left(): number {
    return Math.max(0, this.max - this.taken);
  }

  /** A check ended early, and said so. */
  get areUsedUp(): boolean {
    return this.taken > this.max;
  }

  take(count: number): void {
    this.taken += count;
    if (this.areUsedUp) throw new TooManySteps();
  }
}
