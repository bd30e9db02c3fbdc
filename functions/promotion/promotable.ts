import type { Decision } from '../platform/data/change.ts';
import type { Write } from '../platform/data/commit.ts';
import type { VersionStatus } from '../catalog/app.ts';
import type { Promotion, Subject, Target } from './promotion.ts';

/**
 * What a promotion takes on, as it stands. All a promotion knows of versions and artifacts is this; what is theirs
 * alone they do themselves.
 */
export interface Promotable {
  subject: Subject;
  status: VersionStatus;
  /** The last one, if there was any. */
  promotion?: Promotion;
  /** When the grace period of a deprecated one ends. */
  retire_after?: string;
  /** How many instances use it, as far as that keeps it from being retired. */
  instance_count: number;
  /** Whose audit and events tell of it. */
  place: { org_id?: string; project_id?: string };
  /** Where it is read. */
  path: string;
  /** Refuses a promotion that cannot succeed, and holds what it counts on as it begins. */
  hold(promotion: Promotion): Write[];
  /** The transition, with the promotion as it is after it. */
  move(to: Target, after: Promotion, now: Date): Promise<Decision>;
}
