// W3C Trace Context: one trace id from the first request to the last thing it leads to, a span id for each part.

import { randomBytes } from 'node:crypto';

export interface Trace {
  traceId: string;
  spanId: string;
  flags: string;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
/** As Lambda names the trace it records; the same digits as the W3C id, parted. */
const XRAY_ROOT = /Root=1-([0-9a-f]{8})-([0-9a-f]{24})/;
const SAMPLED = '01';

/** A span of the caller's trace, or of a new one: that of Lambda, where it records one. */
export function continueTrace(traceparent: unknown): Trace {
  const [, sent, flags = SAMPLED] =
    TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? [];
  const [, seconds = '', rest = ''] = XRAY_ROOT.exec(process.env._X_AMZN_TRACE_ID ?? '') ?? [];
  const traceId = sent ?? (seconds + rest || randomBytes(16).toString('hex'));
  return { traceId, spanId: randomBytes(8).toString('hex'), flags };
}

export function formatTrace({ traceId, spanId, flags }: Trace): string {
  return `00-${traceId}-${spanId}-${flags}`;
}
