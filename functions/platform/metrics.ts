import type { Log } from './log.ts';

const NAMESPACE = 'Gpuaas';

/** A refusal that was recorded because it needs attention: the alarms count them by code. */
export function countRefusal(log: Log, code: string): void {
  log.warn('A refusal was recorded in the audit log.', {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: NAMESPACE,
          Dimensions: [['code']],
          Metrics: [{ Name: 'written_refusals', Unit: 'Count' }],
        },
      ],
    },
    code,
    written_refusals: 1,
  });
}

/** One line in CloudWatch's embedded metric format: the log is the metric, no call is made for it. */
export function countRequest(log: Log, route: string, status: number, durationMs: number): void {
  log.info('request', {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: NAMESPACE,
          Dimensions: [['route']],
          Metrics: [
            { Name: 'duration', Unit: 'Milliseconds' },
            { Name: 'refused', Unit: 'Count' },
            { Name: 'failed', Unit: 'Count' },
          ],
        },
      ],
    },
    route,
    status,
    duration: durationMs,
    refused: status >= 400 && status < 500 ? 1 : 0,
    failed: status >= 500 ? 1 : 0,
  });
}

/** Events that the bus could not be told of yet. */
export function countOffBus(log: Log, events: number): void {
  log.warn('Events are waiting for the bus.', {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        { Namespace: NAMESPACE, Dimensions: [[]], Metrics: [{ Name: 'events_off_bus', Unit: 'Count' }] },
      ],
    },
    events_off_bus: events,
  });
}
