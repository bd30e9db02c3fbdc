// The Amazon States Language as far as the local engine hosts it: JSONPath, inline Map.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export interface Definition {
  StartAt: string;
  States: Record<string, State>;
  TimeoutSeconds?: number;
  ProcessorConfig?: { Mode?: string };
}

export interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  MaxAttempts?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  JitterStrategy?: 'NONE' | 'FULL';
}

export interface Catcher {
  ErrorEquals: string[];
  Next: string;
  ResultPath?: string | null;
}

interface Anywhere {
  InputPath?: string | null;
  OutputPath?: string | null;
  Next?: string;
  End?: true;
}

interface Fallible extends Anywhere {
  ResultSelector?: Json;
  ResultPath?: string | null;
  Retry?: Retrier[];
  Catch?: Catcher[];
}

export interface TaskState extends Fallible {
  Type: 'Task';
  Resource: string;
  Parameters?: Json;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  HeartbeatSeconds?: number;
  HeartbeatSecondsPath?: string;
}

export interface ParallelState extends Fallible {
  Type: 'Parallel';
  Parameters?: Json;
  Branches: Definition[];
}

export interface MapState extends Fallible {
  Type: 'Map';
  ItemsPath?: string;
  ItemSelector?: Json;
  /** The older spelling of ItemSelector. */
  Parameters?: Json;
  ItemProcessor?: Definition;
  /** The older spelling of ItemProcessor. */
  Iterator?: Definition;
  MaxConcurrency?: number;
  MaxConcurrencyPath?: string;
}

interface PassState extends Anywhere {
  Type: 'Pass';
  Parameters?: Json;
  Result?: Json;
  ResultPath?: string | null;
}

export interface WaitState extends Anywhere {
  Type: 'Wait';
  Seconds?: number;
  SecondsPath?: string;
  Timestamp?: string;
  TimestampPath?: string;
}

export interface ChoiceState extends Anywhere {
  Type: 'Choice';
  Choices: ChoiceRule[];
  Default?: string;
}

type ChoiceRule = JsonObject & { Next: string };

interface SucceedState extends Anywhere {
  Type: 'Succeed';
}

export interface FailState extends Anywhere {
  Type: 'Fail';
  Error?: string;
  ErrorPath?: string;
  Cause?: string;
  CausePath?: string;
}

export type FallibleState = TaskState | ParallelState | MapState;
export type State = FallibleState | PassState | WaitState | ChoiceState | SucceedState | FailState;

export function itemProcessor(state: MapState): Definition {
  const processor = state.ItemProcessor ?? state.Iterator;
  if (!processor) throw new Error('A Map state without ItemProcessor passed validation.');
  return processor;
}

/** Every state of the machine, those inside Parallel and Map included. */
export function* allStates(definition: Definition): Generator<[name: string, state: State]> {
  for (const [name, state] of Object.entries(definition.States)) {
    yield [name, state];
    if (state.Type === 'Parallel') for (const branch of state.Branches) yield* allStates(branch);
    if (state.Type === 'Map') yield* allStates(itemProcessor(state));
  }
}
