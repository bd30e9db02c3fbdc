// Lines in CloudWatch's embedded metric format: the log is the metric, no call is made for it. Each distinct name and
// dimension costs money every month, so requests are counted by domain; the route is a plain field, for log queries.
// lib/alarms.ts watches these metrics.

import type { Log } from './log.ts';

const NAMESPACE = 'Gpuaas';

export interface Answered {
  domain: string;
  route: string | undefined;
  status: number;
  durationMs: number;
}

/** The samples of `duration_ms` are the requests, so a line tells of a refusal or a failure only where there is one. */
export function countRequest(log: Log, { domain, route, status, durationMs }: Answered): void {
  const outcome: Record<string, number> = status >= 500 ? { failed: 1 } : status >= 400 ? { refused: 1 } : {};
  log.info('request', { route, status, ...metric({ duration_ms: durationMs, ...outcome }, { domain }) });
}

/** A refusal that was recorded because it needs attention. */
export function countRefusal(log: Log, code: string): void {
  log.warn('A refusal was recorded in the audit log.', metric({ written_refusals: 1 }, { code }));
}

/** Events that the bus could not be told of yet. */
export function countOffBus(log: Log, events: number): void {
  log.warn('Events are waiting for the bus.', metric({ events_off_bus: events }));
}

/** Events that the sweep found not relayed or not dispatched, long after they were written. */
export function countMissed(log: Log, events: number): void {
  log.warn('Events were not relayed or dispatched in time.', metric({ events_missed: events }));
}

/** A message that waits for an outage to end. The queue leaves one that was delivered often out of its own age. */
export function countWaiting(log: Log, ageSeconds: number): void {
  log.warn('A message is waiting for an outage to end.', metric({ waiting_seconds: Math.round(ageSeconds) }));
}

/** An item that a sweep could not repair. The others are repaired, so the sweep itself has not failed. */
export function countUnrepaired(log: Log): void {
  log.warn('A sweep could not repair an item.', metric({ unrepaired: 1 }));
}

function metric(values: Record<string, number>, by: Record<string, string> = {}): Record<string, unknown> {
  const metrics = {
    Namespace: NAMESPACE,
    Dimensions: [Object.keys(by)],
    Metrics: Object.keys(values).map((Name) => ({ Name })),
  };
  return { _aws: { Timestamp: Date.now(), CloudWatchMetrics: [metrics] }, ...by, ...values };
}
