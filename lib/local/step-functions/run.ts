import type { Definition, Json, JsonObject, State } from './asl.ts';
import { Failure } from './failure.ts';
import type { Frame } from './frame.ts';
import type { History } from './history.ts';
import type { Execution, Store } from './store.ts';
import type { Tasks } from './tasks.ts';
import type { Tokens } from './tokens.ts';

const PAYLOAD_BYTES_MAX = 262_144;

/** One execution being run by this process, and what its states need to do their work. */
export class Run {
  execution: Execution;
  definition: Definition;
  store: Store;
  history: History;
  tokens: Tokens;
  tasks: Tasks;
  #halt = new AbortController();

  constructor(
    execution: Execution,
    definition: Definition,
    parts: { store: Store; history: History; tokens: Tokens; tasks: Tasks },
  ) {
    this.execution = execution;
    this.definition = definition;
    this.store = parts.store;
    this.history = parts.history;
    this.tokens = parts.tokens;
    this.tasks = parts.tasks;
  }

  /** Aborted when nothing more may be done: the execution has ended, or this process is stopping. */
  get halted(): AbortSignal {
    return this.#halt.signal;
  }

  halt(): void {
    this.#halt.abort();
  }

  /** One step in the journal. A frame that was called off meanwhile must not write any more. */
  write(signal: AbortSignal, step: () => void): void {
    signal.throwIfAborted();
    this.store.atomically(step);
  }

  note(frame: Frame, type: string, details?: Record<string, unknown>): void {
    frame.lastEventId = this.history.append(this.execution.arn, type, frame.lastEventId, details);
  }

  save(frame: Frame): void {
    this.store.saveFrame(this.execution.arn, frame);
  }

  /** The moment a frame enters a state; part of the step that left the one before. */
  enter(frame: Frame, name: string, state: State, input: Json): void {
    this.note(frame, `${state.Type}StateEntered`, {
      name,
      input: JSON.stringify(input),
      inputDetails: UNTRUNCATED,
    });
    frame.state = name;
    frame.input = input;
    frame.enteredMs = Date.now();
    frame.enteredEventId = frame.lastEventId;
    frame.retries = [];
    delete frame.pausedUntilMs;
    delete frame.attempt;
    this.save(frame);
  }

  /** `$$` as a state of this frame sees it. */
  context(frame: Frame, token?: string): JsonObject {
    const { arn, name, input, roleArn, startedMs, machineArn, machineName } = this.execution;
    return {
      Execution: {
        Id: arn,
        Name: name,
        Input: JSON.parse(input) as Json,
        RoleArn: roleArn,
        StartTime: new Date(startedMs).toISOString(),
        RedriveCount: 0,
      },
      StateMachine: { Id: machineArn, Name: machineName },
      State: {
        Name: frame.state,
        EnteredTime: new Date(frame.enteredMs).toISOString(),
        RetryCount: frame.retries.reduce((sum, count) => sum + count, 0),
      },
      ...(token !== undefined && { Task: { Token: token } }),
      ...(frame.item && { Map: { Item: { Index: frame.item.index, Value: frame.item.value } } }),
    };
  }
}

export const UNTRUNCATED = { truncated: false };

export function newFrame(
  path: string,
  lastEventId: number,
  place: Pick<Frame, 'item' | 'iteration'> = {},
): Frame {
  return {
    path,
    state: '',
    input: null,
    enteredMs: 0,
    enteredEventId: 0,
    lastEventId,
    retries: [],
    ...place,
  };
}

export function stateNamed(definition: Definition, name: string): State {
  const state = definition.States[name];
  if (!state) throw new Error(`State ${name} is not in the definition, though it passed validation.`);
  return state;
}

export function checkPayload(stateName: string, payload: Json): Json {
  if (Buffer.byteLength(JSON.stringify(payload)) > PAYLOAD_BYTES_MAX) {
    throw new Failure(
      'States.DataLimitExceeded',
      `The state/task '${stateName}' returned a result with a size exceeding the maximum number of bytes service limit.`,
    );
  }
  return payload;
}
