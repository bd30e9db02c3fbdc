// A new release is on trial until the platform has accepted a heartbeat of it. Until then a file says so, and the
// launcher, which is not part of any release on trial, goes back when the time is up.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { syncFolder, writeWhole } from '../config/write-whole.ts';

const Trial = v.object({
  task_id: v.string(),
  version: v.string(),
  digest: v.string(),
  previous: v.string(),
  deadline_at: v.string(),
});
export type Trial = v.InferOutput<typeof Trial>;

/** Why the launcher went back, for whoever is to report it. */
const WentBack = v.object({ ...Trial.entries, reason: v.string() });
export type WentBack = v.InferOutput<typeof WentBack>;

const trialFile = (stateDir: string): string => join(stateDir, 'trial.json');
const wentBackFile = (stateDir: string): string => join(stateDir, 'went-back.json');

export const readTrial = (stateDir: string): Trial | undefined => read(trialFile(stateDir), Trial);
export const readWentBack = (stateDir: string): WentBack | undefined =>
  read(wentBackFile(stateDir), WentBack);

export const beginTrial = (stateDir: string, trial: Trial): void => {
  rmSync(wentBackFile(stateDir), { force: true });
  writeWhole(trialFile(stateDir), JSON.stringify(trial), { mode: 0o600 });
};

/** Passed: it stays. Only the release on trial can say so. */
export function passTrial(stateDir: string, version: string): void {
  if (readTrial(stateDir)?.version !== version) return;
  rmSync(trialFile(stateDir), { force: true });
  syncFolder(stateDir);
}

/** What is told comes first: after a crash in between, the launcher goes back once more, which changes nothing. */
export function noteWentBack(stateDir: string, wentBack: WentBack): void {
  writeWhole(wentBackFile(stateDir), JSON.stringify(wentBack), { mode: 0o600 });
  rmSync(trialFile(stateDir), { force: true });
  syncFolder(stateDir);
}

function read<T>(path: string, schema: v.GenericSchema<unknown, T>): T | undefined {
  try {
    const parsed = v.safeParse(schema, JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
