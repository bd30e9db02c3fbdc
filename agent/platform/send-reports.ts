// Sends what the journal keeps for the platform, and again until the platform has answered.

import { hash } from 'node:crypto';
import * as v from 'valibot';
import type { Report, ReportJournal } from '../journal/report-journal.ts';
import type { Log } from '../tasks/performer.ts';
import { backOffMs, pause } from './back-off.ts';
import type { AskPlatform } from './platform-client.ts';
import { PlatformError } from './platform-error.ts';

const AT_ONCE = 8;

export interface ReportSender {
  /** Until the signal is aborted. */
  run: (signal: AbortSignal) => Promise<void>;
  /** Sends what is there now, once each; answers how many are left. */
  flush(signal?: AbortSignal): Promise<number>;
}

export function createReportSender(
  reports: ReportJournal,
  ask: AskPlatform,
  { log, now }: { log: Log; now: () => Date },
): ReportSender {
  /** The platform is asked later only if it did not hear this one. */
  async function send(report: Report, signal?: AbortSignal): Promise<PlatformError | undefined> {
    const { path, body } = report;
    // The same report, however often it is sent: its number is its own.
    const idempotencyKey = hash('sha256', `${report.about} ${body}`);
    try {
      await ask({ method: 'POST', path, body, idempotencyKey, attempts: 1, signal }, v.unknown());
    } catch (error) {
      if (!(error instanceof PlatformError)) {
        if (signal?.aborted) return undefined;
        throw error;
      }
      if (isWorthRepeating(error) && !reports.isTooOld(report, now())) return error;
      log('error', 'The platform does not take a report; it is dropped.', {
        about: report.about,
        code: error.code,
        detail: error.message,
      });
    }
    reports.drop(report);
    return undefined;
  }

  async function flush(signal?: AbortSignal): Promise<{ left: number; error?: PlatformError }> {
    let error: PlatformError | undefined;
    const failed = new Set<number>();
    for (;;) {
      const next = reports
        .list(AT_ONCE + failed.size)
        .filter(({ number }) => !failed.has(number))
        .slice(0, AT_ONCE);
      if (next.length === 0 || signal?.aborted) return { left: reports.count(), error };
      await Promise.all(
        next.map(async (report) => {
          const refused = await send(report, signal);
          if (!refused) return;
          failed.add(report.number);
          error = refused;
        }),
      );
      // Nobody answers: the rest would fail as well, and slowly.
      if (failed.size >= AT_ONCE) return { left: reports.count(), error };
    }
  }

  return {
    async run(signal) {
      let wake = (): void => {};
      let isKept = true;
      reports.onKept(() => {
        isKept = true;
        wake();
      });
      const kept = () =>
        isKept
          ? Promise.resolve()
          : new Promise<void>((resolve) => {
              wake = resolve;
              signal.addEventListener('abort', () => resolve(), { once: true });
            });
      for (let failures = 0; !signal.aborted;) {
        isKept = false;
        const { left, error } = await flush(signal);
        failures = left > 0 && error ? failures + 1 : 0;
        if (error) {
          log('warn', 'The platform could not be told something; it is told again.', {
            code: error.code,
            detail: error.message,
            left,
          });
          await pause(error.retryAfterMs ?? backOffMs(failures), signal);
        } else await kept();
      }
    },
    flush: async (signal) => (await flush(signal)).left,
  };
}

/** A refusal is final; but that the node itself is not known or not let in just now may pass, as at its removal or renewal. */
function isWorthRepeating({ isRetryable, status }: PlatformError): boolean {
  return isRetryable || status === 401 || status === 403 || (status !== undefined && status >= 500);
}
