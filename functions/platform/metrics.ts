import type { Log } from './log.ts';

const NAMESPACE = 'Gpuaas';

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
