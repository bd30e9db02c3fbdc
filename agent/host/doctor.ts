// What is wrong with this host, and what to do about it.

import type { Check } from './checks.ts';

export interface Diagnosis {
  name: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** What to do, where something is wrong. */
  advice?: string;
}

/** All of them, whatever the others find; a check that itself goes wrong has found something, too. */
export function diagnose(checks: readonly Check[]): Promise<Diagnosis[]> {
  return Promise.all(
    checks.map(async ({ name, look }) => {
      try {
        return { name, ...(await look()) };
      } catch (error) {
        return {
          name,
          status: 'failed',
          detail: (error as Error).message,
          advice: 'The check itself failed; see the detail.',
        };
      }
    }),
  );
}

export const isHealthy = (diagnoses: readonly Diagnosis[]): boolean =>
  diagnoses.every(({ status }) => status !== 'failed');

const SIGNS = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' } as const;

export function formatDiagnosis({ name, status, detail, advice }: Diagnosis): string {
  const line = `${SIGNS[status]}  ${name}: ${detail}`;
  return advice === undefined ? line : `${line}\n      → ${advice}`;
}

/** For the heartbeat: a few words each. */
export const problemsOf = (diagnoses: readonly Diagnosis[]): string[] =>
  diagnoses
    .filter(({ status }) => status === 'failed')
    .map(({ name, detail }) => `${name}: ${detail}`.slice(0, 200))
    .slice(0, 10);
