// How a promotion is repaired after an error or a missed event.

import { secondsAfter } from '../platform/clock.ts';
import { causeOf, type WorkflowError } from '../platform/workflow/workflow-error.ts';
import type { Promotable } from './kind.ts';
import type { Failure, Promotion } from './promotion.ts';

/** How long the event may take to start the workflow. */
const START_SECONDS_MAX = 60;

export const SMOKE_FAILED = 'promotion.smoke_failed';

/** The error the workflow caught, as callers may see it: internal details go only to the log. */
export function failureOf(error: WorkflowError): Failure {
  const code = error.Error;
  if (code.endsWith('Timeout'))
    return { code: 'promotion.timed_out', detail: 'The promotion timed out while it was waiting.' };
  if (REFUSAL.test(code)) return { code, detail: causeOf(error).slice(0, DETAIL_CHARACTERS_MAX) };
  return {
    code: 'internal',
    detail: 'A step failed on our side; the log has the details under the correlation id.',
  };
}

/** The form of every refusal code; internal errors have other names. */
const REFUSAL = /^(?:[a-z_]+\.[a-z_]+|unavailable)$/;

const DETAIL_CHARACTERS_MAX = 1_000;

export const STALLED: Failure = {
  code: 'promotion.stalled',
  detail: 'The workflow did not continue the promotion before its deadline.',
};

export type Repair = 'wait' | 'start' | 'answer' | 'fail';

/** How the sweep repairs a promotion. */
export function repairOf(promotion: Promotion, at: Pick<Promotable, 'instance_count'>, now: Date): Repair {
  if (promotion.status !== 'running') return 'wait';
  if (now > new Date(promotion.deadline_at)) return 'fail';
  if (promotion.started_at === undefined)
    return now > secondsAfter(new Date(promotion.requested_at), START_SECONDS_MAX) ? 'start' : 'wait';
  return isAnswerable(promotion, at) ? 'answer' : 'wait';
}

/** Whether the workflow can be answered now. */
export function isAnswerable(
  { step, task_token }: Promotion,
  { instance_count }: Pick<Promotable, 'instance_count'>,
): boolean {
  if (task_token === undefined) return false;
  return step === 'smoke_answered' || (step === 'awaiting_last_instance' && instance_count === 0);
}
