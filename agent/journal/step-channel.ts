import { channel } from 'node:diagnostics_channel';

/** What the journal has just made durable. Whoever listens sees every place where a crash leaves something half done. */
export interface JournalStep {
  /** `task.begun`, `step`, `task.ended`, `workload.put`, `workload.forgotten`, `fetch.kept`, `report.kept`, `report.sent`. */
  kind: string;
  /** The task, workload or report it is about. */
  about: string;
  /** Of a step of a task. */
  name?: string;
}

const steps = channel('gpuaas.agent.step');

export function publishStep(step: JournalStep): void {
  if (steps.hasSubscribers) steps.publish(step);
}
