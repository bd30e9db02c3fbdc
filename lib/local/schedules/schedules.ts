import { randomUUID } from 'node:crypto';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { ACCOUNT, REGION } from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import { isPassingFault, type Deliver } from '../lambda/deliver.ts';
import { pause } from '../lambda/pause.ts';
import type { Principals } from '../iam/principals.ts';
import { say } from '../wire/say.ts';
import { parseScheduleExpression, type NextFire } from './schedule-expression.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;
const RETRIES_MAX = 185;
const RETRY_DELAY_MS_MIN = 1000;
const RETRY_DELAY_MS_MAX = 60_000;

export interface ScheduleSpec {
  name: string;
  /** `rate(5 minutes)`, `cron(0 3 * * ? *)` or `at(2027-01-31T13:00:00)` */
  expression: string;
  timezone?: string;
  enabled: boolean;
  targetArn: string;
  roleArn: string;
  input?: string;
  retriesMax?: number;
  deadLetterArn?: string;
}

export interface SchedulesOptions {
  principals: Pick<Principals, 'clientConfig'>;
  journal: Journal;
  deliver: Deliver;
}

interface Scheduled {
  spec: ScheduleSpec;
  next: NextFire;
  timer?: NodeJS.Timeout;
}

/**
 * Fires schedules with the rights of their roles. When each fired last is in the journal: a restart neither
 * fires early nor forgets, and however much was missed meanwhile is made up for by firing once.
 */
export class Schedules {
  #options: SchedulesOptions;
  #journal: Journal;
  #scheduled = new Map<string, Scheduled>();
  #firing = new Set<Promise<void>>();
  #stopping = new AbortController();
  #started = false;

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#journal.exec(`
      CREATE TABLE IF NOT EXISTS schedule (
        name TEXT PRIMARY KEY, timing TEXT NOT NULL, last_fired_at_ms INTEGER NOT NULL
      ) STRICT;`);
  }

  put(spec: ScheduleSpec): void {
    const known = this.#scheduled.get(spec.name);
    const scheduled: Scheduled = { spec, next: checkSchedule(spec) };
    clearTimeout(known?.timer);
    this.#scheduled.set(spec.name, scheduled);
    this.#keepTiming(spec);
    if (this.#started) this.#arm(scheduled);
  }

  keepOnly(names: Set<string>): void {
    for (const [name, { timer }] of this.#scheduled) {
      if (names.has(name)) continue;
      clearTimeout(timer);
      this.#scheduled.delete(name);
    }
    this.#journal
      .prepare('DELETE FROM schedule WHERE name NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify([...names]));
  }

  start(): void {
    this.#started = true;
    for (const scheduled of this.#scheduled.values()) this.#arm(scheduled);
  }

  async stop(): Promise<void> {
    this.#started = false;
    this.#stopping.abort();
    for (const { timer } of this.#scheduled.values()) clearTimeout(timer);
    await Promise.all(this.#firing);
  }

  /** A schedule that is new, or fires at other times than before, counts from now. */
  #keepTiming({ name, expression, timezone, enabled }: ScheduleSpec): void {
    this.#journal
      .prepare(
        `INSERT INTO schedule VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET timing = excluded.timing, last_fired_at_ms = excluded.last_fired_at_ms
         WHERE timing <> excluded.timing`,
      )
      .run(name, JSON.stringify([expression, timezone, enabled]), Date.now());
  }

  #arm(scheduled: Scheduled): void {
    const { spec, next } = scheduled;
    clearTimeout(scheduled.timer);
    if (!spec.enabled || this.#stopping.signal.aborted) return;
    const { last_fired_at_ms } = this.#journal
      .prepare('SELECT last_fired_at_ms FROM schedule WHERE name = ?')
      .get(spec.name) as { last_fired_at_ms: number };
    const dueAtMs = next(last_fired_at_ms);
    if (dueAtMs === undefined) return;
    const waitMs = Math.min(Math.max(0, dueAtMs - Date.now()), TIMER_MS_MAX);
    scheduled.timer = setTimeout(() => {
      if (Date.now() < dueAtMs) return this.#arm(scheduled);
      const fire = this.#fire(scheduled, dueAtMs).finally(() => this.#firing.delete(fire));
      this.#firing.add(fire);
    }, waitMs).unref();
  }

  async #fire(scheduled: Scheduled, dueAtMs: number): Promise<void> {
    const { spec, next } = scheduled;
    await this.#sendUntilTaken(spec, dueAtMs);
    if (this.#stopping.signal.aborted) return;
    const following = next(dueAtMs);
    const isBehind = following !== undefined && following <= Date.now();
    this.#journal
      .prepare('UPDATE schedule SET last_fired_at_ms = ? WHERE name = ?')
      .run(isBehind ? Date.now() : dueAtMs, spec.name);
    if (this.#scheduled.get(spec.name) === scheduled) this.#arm(scheduled);
  }

  async #sendUntilTaken(spec: ScheduleSpec, dueAtMs: number): Promise<void> {
    const { signal } = this.#stopping;
    const executionId = randomUUID();
    let delayMs = RETRY_DELAY_MS_MIN;
    for (let attempt = 1; !signal.aborted; attempt++) {
      const input = inputFor(spec, dueAtMs, executionId, attempt);
      try {
        return await this.#send(spec, input);
      } catch (error) {
        if (attempt === 1)
          say('schedules', `${spec.name} could not reach ${spec.targetArn}: ${String(error)}`);
        if (attempt > (spec.retriesMax ?? RETRIES_MAX) || !isPassingFault(error))
          return this.#bury(spec, input);
        await pause(delayMs, signal);
        delayMs = Math.min(delayMs * 2, RETRY_DELAY_MS_MAX);
      }
    }
  }

  async #send(spec: ScheduleSpec, input: string): Promise<void> {
    if (serviceOf(spec.targetArn) !== 'states')
      return this.#options.deliver(spec.targetArn, spec.roleArn, input);
    const client = new SFNClient(this.#options.principals.clientConfig(spec.roleArn, spec.name));
    const order = new StartExecutionCommand({ stateMachineArn: spec.targetArn, input });
    await client.send(order).finally(() => client.destroy());
  }

  async #bury({ name, deadLetterArn, roleArn }: ScheduleSpec, input: string): Promise<void> {
    if (deadLetterArn === undefined) return say('schedules', `${name} gave up; it has no dead-letter queue.`);
    await this.#options.deliver(deadLetterArn, roleArn, input).catch((error: unknown) => {
      say('schedules', `${name} gave up, and could not report it to ${deadLetterArn}: ${String(error)}`);
    });
  }
}

/** Refuses what could not be kept here. */
export function checkSchedule({ name, expression, timezone, targetArn }: ScheduleSpec): NextFire {
  if (!['lambda', 'sqs', 'states'].includes(serviceOf(targetArn))) {
    throw new Error(
      `The schedule ${name} targets ${targetArn}: only functions, queues and state machines can be targets here.`,
    );
  }
  try {
    return parseScheduleExpression(expression, timezone);
  } catch (error) {
    throw new Error(`The schedule ${name} is not valid: ${(error as Error).message}`, { cause: error });
  }
}

function inputFor(spec: ScheduleSpec, dueAtMs: number, executionId: string, attempt: number): string {
  const scheduleArn = `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule/default/${spec.name}`;
  const time = new Date(dueAtMs).toISOString().replace(/\.\d+Z$/, 'Z');
  if (spec.input === undefined) {
    return JSON.stringify({
      version: '0',
      id: executionId,
      'detail-type': 'Scheduled Event',
      source: 'aws.scheduler',
      account: ACCOUNT,
      time,
      region: REGION,
      resources: [scheduleArn],
      detail: '{}',
    });
  }
  return spec.input
    .replaceAll('<aws.scheduler.schedule-arn>', scheduleArn)
    .replaceAll('<aws.scheduler.scheduled-time>', time)
    .replaceAll('<aws.scheduler.execution-id>', executionId)
    .replaceAll('<aws.scheduler.attempt-number>', String(attempt));
}

function serviceOf(arn: string): string {
  return arn.split(':')[2] ?? '';
}
