import { passTrial, readTrial } from './trial.ts';

export interface TrialWatch {
  /** Resolves when this release is not on trial, or no more. */
  passed: Promise<void>;
  /** The platform has accepted a heartbeat. */
  heard: () => void;
  /** What was there before has been looked after: the release does more than to say that it lives. */
  converged: () => void;
}

/** A release passes once it has done both. */
export function watchTrial(stateDir: string, version: string): TrialWatch {
  const { promise: passed, resolve } = Promise.withResolvers<void>();
  const open = new Set(['heard', 'converged']);
  const done = (what: string) => {
    if (!open.delete(what) || open.size > 0) return;
    passTrial(stateDir, version);
    resolve();
  };
  if (readTrial(stateDir)?.version !== version) resolve();
  return { passed, heard: () => done('heard'), converged: () => done('converged') };
}
