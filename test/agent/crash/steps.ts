import { existsSync, readFileSync } from 'node:fs';

/** Where the agent's process writes its steps to, and where it reads at which of them it has to die. */
export const STEPS_VARIABLE = 'TEST_STEPS_FILE';
export const KILL_POINTS_VARIABLE = 'TEST_KILL_POINTS_FILE';

export interface SeenStep {
  label: string;
  /** The task, workload or report. */
  about: string;
  atMs: number;
  /** The point at which the process died here. */
  killed?: string;
}

/** Once each: at the n-th step of this name of one task in one run, or at the n-th of all steps of all runs. */
export type KillPoint = { id: string } & (
  { label: string; about: string[]; occurrence: number } | { message: number }
);

export const readSteps = (file: string): SeenStep[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as SeenStep]))
    : [];

export interface StepName {
  label: string;
  /** The first, second, … of this name. */
  occurrence: number;
}

/** The steps of one task, from its beginning on, by what it is about. */
export function stepsOf(steps: SeenStep[], taskId: string, workloadId: string | undefined): StepName[] {
  const begun = steps.findIndex(({ label, about }) => label === 'task.begun' && about === taskId);
  const ids = [taskId, ...(workloadId === undefined ? [] : [workloadId])];
  const own = steps.slice(begun).filter(({ about }) => ids.some((id) => about.endsWith(id)));
  return own.map(({ label }, index) => ({
    label,
    occurrence: own.slice(0, index + 1).filter((each) => each.label === label).length,
  }));
}
