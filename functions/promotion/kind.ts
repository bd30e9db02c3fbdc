import type { Context } from '../platform/context.ts';
import type { Decision } from '../platform/data/change.ts';
import type { Write } from '../platform/data/commit.ts';
import type { Refusal } from '../platform/errors.ts';
import type { DomainEvent } from '../platform/events.ts';
import type { OrgId, ProjectId } from '../platform/ids.ts';
import { dataOf, type Failure, type Promotion, type Step, type Subject, type Target } from './promotion.ts';
import type { PromotionPolicy } from './promotion-policy.ts';
import type { Status } from './status.ts';
import type { GenericSchema } from 'valibot';

/** A promotion keeps them: a later policy does not change it. */
export type Terms = Pick<Promotion, 'smoke' | 'canary' | 'grace_seconds'>;

/**
 * A kind of thing that is promoted: versions, artifacts. Each domain implements this interface; promotions know
 * nothing else about a kind.
 */
export interface Kind<S extends Subject = Subject> {
  name: S['kind'];
  /** What the audit calls it: `catalog.version`. */
  audited: string;
  subject: GenericSchema<unknown, S>;
  /** The thing as it is, with its last promotion. */
  find(subject: S): Promise<Promotable>;
  /** The ids by which audit and events name it. */
  names(subject: S): Record<string, string>;
  requested(promotion: Promotion): DomainEvent;
  failed(promotion: Promotion, error: Failure): DomainEvent;
  wrongStatus(detail: string): Refusal;
  /** What a promotion takes over from the policy in force. */
  termsOf(policy: PromotionPolicy, from: Status, target: Target): Terms;
  /** The step at which its own function decides whether the promotion goes on. */
  gate: Step;
  /** Whether a promotion from there passes the gate. */
  isGated(from: Status): boolean;
  /** Where the workflow goes on after the gate. */
  afterGate(promotion: Pick<Promotion, 'from' | 'smoke'>): Step;
  /** Refuses a transition if one of its gates has not passed. */
  requireGates(promotion: Promotion, to: Target): void;
  /** The last look before it becomes active. */
  judge?(ctx: Context, subject: S): Promise<void>;
  /** What a promotion's answer says of it. */
  view(subject: S, status: Status): Record<string, unknown>;
}

/** One thing of a kind, as it is. */
export interface Promotable {
  kind: Kind;
  subject: Subject;
  status: Status;
  /** The last one, if there was any. */
  promotion?: Promotion;
  /** When the grace period of a deprecated one ends. */
  retire_after?: string;
  /** How many instances use it, as far as that keeps it from being retired. */
  instance_count: number;
  /** Whose audit and events tell of it. */
  place: { org_id?: OrgId; project_id?: ProjectId };
  /** Where it is read. */
  path: string;
  /** Refuses a promotion that cannot succeed, and returns the write conditions for its start. */
  hold(promotion: Promotion): Write[];
  /** The transition, with the promotion as it is after it. */
  move(to: Target, after: Promotion, now: Date): Promise<Decision>;
}

/** What the audit and the events say of a promotion: how far it is, and what it is about. */
function aboutPromotion(kind: Kind, promotion: Promotion): Record<string, unknown> {
  return { ...dataOf(promotion), ...kind.names(promotion.subject) };
}

/** A change of a promotion, as the audit tells it. */
export const auditPromotion = (kind: Kind, before: Promotion | undefined, after: Promotion) => ({
  subject: `promotion:${after.operation_id}`,
  ...(before && { before: aboutPromotion(kind, before) }),
  after: aboutPromotion(kind, after),
});
