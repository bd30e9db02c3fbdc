import { createHash } from 'node:crypto';
import { say } from '../wire/say.ts';
import type { Definition, Json } from './asl.ts';
import { sleepUntil } from './clock.ts';
import { Failure } from './failure.ts';
import type { History } from './history.ts';
import { runFrame } from './run-frame.ts';
import { newFrame, Run, stateNamed, UNTRUNCATED } from './run.ts';
import type { Execution, ExecutionEnd, Store } from './store.ts';
import type { Tasks } from './tasks.ts';
import type { Tokens } from './tokens.ts';

export interface Machine {
  name: string;
  arn: string;
  roleArn: string;
  definition: Definition;
}

interface Parts {
  store: Store;
  history: History;
  tokens: Tokens;
  tasks: Tasks;
}

/** Ended executions between two looks for those old enough to forget. */
const ENDS_BETWEEN_CLEANING = 100;

/** Starts, resumes and ends executions. What it holds in memory is only what is running right now. */
export class Executions {
  #parts: Parts;
  #running = new Map<string, { run: Run; settled: Promise<void> }>();
  #isStopped = false;
  #endsSinceCleaning = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(machine: Machine, name: string, arn: string, input: string): Execution {
    const { store, history } = this.#parts;
    const definition = JSON.stringify(machine.definition);
    const execution: Execution = {
      arn,
      machineArn: machine.arn,
      machineName: machine.name,
      roleArn: machine.roleArn,
      definitionHash: createHash('sha256').update(definition).digest('hex'),
      name,
      status: 'RUNNING',
      input,
      output: null,
      error: null,
      cause: null,
      startedMs: Date.now(),
      stoppedMs: null,
    };
    const run = new Run(execution, machine.definition, this.#parts);
    const { StartAt } = machine.definition;
    store.atomically(() => {
      store.insertExecution(execution, definition);
      const details = { input, inputDetails: UNTRUNCATED, roleArn: machine.roleArn };
      history.append(arn, 'ExecutionStarted', 0, details);
      run.enter(newFrame('', 0), StartAt, stateNamed(machine.definition, StartAt), JSON.parse(input) as Json);
    });
    // After stop() it is journaled all the same, and runs when this machine is started again.
    if (!this.#isStopped) this.#launch(run);
    return execution;
  }

  resume(): void {
    const { store } = this.#parts;
    this.#isStopped = false;
    store.forgetOldExecutions(Date.now());
    for (const execution of store.runningExecutions()) {
      if (this.#running.has(execution.arn)) continue;
      const definition = JSON.parse(store.definition(execution.definitionHash)) as Definition;
      this.#launch(new Run(execution, definition, this.#parts));
    }
  }

  abort(arn: string, reason: { error?: string; cause?: string }): void {
    this.#end(arn, { status: 'ABORTED', stoppedMs: Date.now(), ...reason }, 0);
  }

  /** Lets go of everything that runs, without ending it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const running = [...this.#running.values()];
    for (const { run } of running) run.halt();
    await Promise.all(running.map(({ settled }) => settled));
  }

  #launch(run: Run): void {
    const { arn } = run.execution;
    const settled = this.#drive(run)
      .catch((error: unknown) =>
        say('workflows', `${arn} is suspended until the next start: ${String(error)}`),
      )
      .finally(() => {
        if (this.#running.get(arn)?.run === run) this.#running.delete(arn);
      });
    this.#running.set(arn, { run, settled });
  }

  async #drive(run: Run): Promise<void> {
    const { execution, definition, halted } = run;
    const deadlineMs = execution.startedMs + (definition.TimeoutSeconds ?? Infinity) * 1000;
    if (deadlineMs < Infinity) {
      sleepUntil(deadlineMs, halted)
        .then(() => this.#timeOut(run))
        .catch((error: unknown) => {
          if (!halted.aborted)
            say('workflows', `${execution.arn} is overdue and suspended: ${String(error)}`);
        });
    }
    const frame = this.#parts.store.frame(execution.arn, '');
    if (!frame) throw new Error('The journal has an execution without its state.');
    try {
      const output = await runFrame(run, frame, definition, halted);
      halted.throwIfAborted();
      const end = { status: 'SUCCEEDED', stoppedMs: Date.now(), output: JSON.stringify(output) } as const;
      this.#end(execution.arn, end, frame.lastEventId);
    } catch (error) {
      if (halted.aborted) return;
      if (!(error instanceof Failure)) throw error;
      const end = {
        status: 'FAILED',
        stoppedMs: Date.now(),
        error: error.error,
        cause: error.causeText,
      } as const;
      this.#end(execution.arn, end, frame.lastEventId);
    }
  }

  #timeOut(run: Run): void {
    this.#end(run.execution.arn, { status: 'TIMED_OUT', stoppedMs: Date.now() }, 0);
  }

  #end(arn: string, end: ExecutionEnd, previousEventId: number): void {
    const { store, history } = this.#parts;
    if (store.execution(arn)?.status !== 'RUNNING') return;
    store.atomically(() => {
      history.append(arn, ...endEvent(end, previousEventId));
      store.endExecution(arn, end);
    });
    this.#running.get(arn)?.run.halt();
    this.#endsSinceCleaning += 1;
    if (this.#endsSinceCleaning < ENDS_BETWEEN_CLEANING) return;
    this.#endsSinceCleaning = 0;
    store.forgetOldExecutions(Date.now());
  }
}

function endEvent(
  end: ExecutionEnd,
  previousEventId: number,
): [type: string, previousEventId: number, details: Record<string, unknown>] {
  const { output, error, cause } = end;
  switch (end.status) {
    case 'SUCCEEDED':
      return ['ExecutionSucceeded', previousEventId, { output, outputDetails: UNTRUNCATED }];
    case 'FAILED':
      return ['ExecutionFailed', previousEventId, { error, cause }];
    case 'TIMED_OUT':
      // Only the history names the error; DescribeExecution on AWS shows neither error nor cause.
      return ['ExecutionTimedOut', previousEventId, { error: 'States.Timeout' }];
    case 'ABORTED':
      return ['ExecutionAborted', previousEventId, { error, cause }];
    default:
      return end.status satisfies never;
  }
}
