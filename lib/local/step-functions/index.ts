import type { Service } from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import type { Principals } from '../iam/principals.ts';
import { checkDefinition } from './definition.ts';
import { executionOperations } from './execution-operations.ts';
import { Executions } from './executions.ts';
import { History } from './history.ts';
import { machineOperations, type Machines } from './machine-operations.ts';
import { stepFunctionsService } from './service.ts';
import { Store } from './store.ts';
import { taskOperations } from './task-operations.ts';
import { Tasks } from './tasks.ts';
import { Tokens } from './tokens.ts';

export interface MachineSpec {
  name: string;
  arn: string;
  roleArn: string;
  /** ASL with its substitutions applied. */
  definition: object;
}

/** State machines of the template, their executions in the journal, and the API to both. */
export class StepFunctions {
  service: Service;
  #machines: Machines = new Map();
  #store: Store;
  #executions: Executions;
  #tasks: Tasks;

  constructor({ journal, principals }: { journal: Journal; principals: Principals }) {
    const store = new Store(journal);
    const history = new History(store);
    const tokens = new Tokens(store);
    this.#store = store;
    this.#tasks = new Tasks(principals);
    this.#executions = new Executions({ store, history, tokens, tasks: this.#tasks });
    const parts = { machines: this.#machines, executions: this.#executions, store, history };
    this.service = stepFunctionsService({
      ...executionOperations(parts),
      ...machineOperations(this.#machines),
      ...taskOperations(this.#machines, tokens),
    });
  }

  /** Adds a machine or replaces it; executions under way keep the definition they started with. */
  put(spec: MachineSpec): void {
    const definition = checkDefinition(spec.name, spec.definition);
    const createdMs = this.#machines.get(spec.arn)?.createdMs ?? Date.now();
    this.#machines.set(spec.arn, { ...spec, definition, createdMs });
  }

  /** Removes the other machines; what they were running is aborted, as when a machine is deleted on AWS. */
  keepOnly(arns: Set<string>): void {
    for (const arn of this.#machines.keys()) if (!arns.has(arn)) this.#machines.delete(arn);
    for (const { arn, machineArn } of this.#store.runningExecutions()) {
      if (!arns.has(machineArn)) this.#executions.abort(arn, { cause: 'The state machine was deleted.' });
    }
  }

  /** Goes on with every execution the journal says is running. */
  start(): void {
    this.#executions.resume();
  }

  /** Lets go of what is running without ending it; `start` takes it up again. */
  async stop(): Promise<void> {
    await this.#executions.stop();
    this.#tasks.stop();
  }
}
