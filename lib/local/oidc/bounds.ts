import type { RequestListener } from 'node:http';

export interface Bounds {
  /** How many requests may come at once … */
  burst: number;
  /** … and how many over time. */
  perSecond: number;
  answerSecondsMax: number;
}

/** Keeps a loop that went wild, and a caller that never finishes its request, from tying up the machine. */
export function bounded(
  listener: RequestListener,
  { burst, perSecond, answerSecondsMax }: Bounds,
): RequestListener {
  let left = burst;
  let countedAtMs = performance.now();
  return (request, response) => {
    const nowMs = performance.now();
    left = Math.min(burst, left + ((nowMs - countedAtMs) / 1000) * perSecond);
    countedAtMs = nowMs;
    if (left < 1) {
      response.writeHead(429, { 'retry-after': '1', connection: 'close' }).end();
      return;
    }
    left -= 1;
    const timer = setTimeout(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(408, { connection: 'close' }).end();
    }, answerSecondsMax * 1000);
    response.once('close', () => clearTimeout(timer));
    listener(request, response);
  };
}
