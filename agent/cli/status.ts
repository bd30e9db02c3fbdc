import { existsSync } from 'node:fs';
import { readConfig } from '../config/config-file.ts';
import { AlreadyRunning, lockStateDir } from '../lock/lock.ts';
import { openJournal } from '../journal/journal.ts';
import { journalFile } from '../journal/open-database.ts';
import { readTrial } from '../update/trial.ts';
import { agentVersion } from '../config/version.ts';
import type { Streams } from './streams.ts';

const HOURS_SHOWN = 24;
const TASKS_SHOWN = 50;

/** What this host holds, from its journal: it asks neither the platform nor the engine. */
export function status(stateDir: string, isJson: boolean, { print }: Streams): void {
  const { node_id, name, url } = readConfig(stateDir);
  const held = readHeld(stateDir);
  const state = {
    node_id,
    name,
    url,
    version: agentVersion,
    running: isRunning(stateDir),
    trial: readTrial(stateDir)?.version,
    ...held,
  };
  if (isJson) {
    print(JSON.stringify(state, null, 2));
    return;
  }
  print(`node ${name} (${node_id}) of ${url}`);
  print(
    `agent ${agentVersion}, ${state.running ? 'running' : 'not running'}${state.trial ? `, ${state.trial} on trial` : ''}`,
  );
  print(`${held.reports} reports wait for the platform`);
  for (const { workload_id, kind, desired, fence } of held.workloads)
    print(`workload ${workload_id}  ${kind}  ${desired}  fence ${fence}`);
  for (const { id, kind, begun_at, ended_at, outcome, step } of held.tasks)
    print(
      `task ${id}  ${kind}  ${ended_at ? outcome?.status : `running${step ? ` (${step})` : ''}`}  since ${begun_at}`,
    );
}

function readHeld(stateDir: string) {
  if (!existsSync(journalFile(stateDir))) return { workloads: [], tasks: [], reports: 0 };
  const now = new Date();
  const journal = openJournal(stateDir, () => now);
  try {
    return {
      workloads: journal.workloads
        .listWorkloads()
        .map(({ workload_id, kind, desired, fence }) => ({ workload_id, kind, desired, fence })),
      tasks: journal.tasks.list(new Date(now.getTime() - HOURS_SHOWN * 3600_000), TASKS_SHOWN),
      reports: journal.reports.count(),
    };
  } finally {
    journal.close();
  }
}

function isRunning(stateDir: string): boolean {
  try {
    lockStateDir(stateDir).release();
    return false;
  } catch (error) {
    if (error instanceof AlreadyRunning) return true;
    throw error;
  }
}
