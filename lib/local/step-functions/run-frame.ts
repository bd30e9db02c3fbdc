import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Definition, FailState, FallibleState, Json, State, WaitState } from './asl.ts';
import { sleepUntil } from './clock.ts';
import { Failure, findCatcher, planRetry } from './failure.ts';
import type { Frame } from './frame.ts';
import { choose, evaluate, place, select } from './interpreter.ts';
import { attemptBranches } from './run-branches.ts';
import { attemptTask, noteTaskSucceeded } from './run-task.ts';
import { checkPayload, stateNamed, UNTRUNCATED, type Run } from './run.ts';

/** What leaving a state needs to know. */
interface Exit {
  output: Json;
  /** Absent at the end of the machine, branch or item. */
  next: string | undefined;
  /** Notes what happened inside the state, before its exit is noted. */
  note?: () => void;
}

/** Takes a frame from where the journal says it stands to its end, and returns the last output. */
export async function runFrame(
  run: Run,
  frame: Frame,
  definition: Definition,
  signal: AbortSignal,
): Promise<Json> {
  while (!frame.end) {
    const state = stateNamed(definition, frame.state);
    try {
      const exit = await runState(run, frame, state, signal);
      checkPayload(frame.state, exit.output);
      run.write(signal, () => leave(run, frame, definition, state, exit));
      // States that wait for nothing follow each other without end; others must get a turn between them.
      await yieldTurn();
    } catch (error) {
      signal.throwIfAborted();
      const failure = explain(error, frame);
      run.write(signal, () => {
        if (failure.event) run.note(frame, failure.event.type, failure.event.details);
        if (frame.iteration) run.note(frame, 'MapIterationFailed', frame.iteration);
      });
      throw failure;
    }
  }
  return frame.end.output;
}

function leave(run: Run, frame: Frame, definition: Definition, state: State, exit: Exit): void {
  exit.note?.();
  const output = JSON.stringify(exit.output);
  run.note(frame, `${state.Type}StateExited`, { name: frame.state, output, outputDetails: UNTRUNCATED });
  forgetAttempt(run, frame);
  if (exit.next !== undefined) {
    run.enter(frame, exit.next, stateNamed(definition, exit.next), exit.output);
    return;
  }
  if (frame.iteration) run.note(frame, 'MapIterationSucceeded', frame.iteration);
  frame.end = { output: exit.output };
  run.save(frame);
}

function forgetAttempt(run: Run, frame: Frame): void {
  if (frame.attempt?.token !== undefined) run.tokens.delete(frame.attempt.token);
  run.store.deleteChildren(run.execution.arn, frame);
  delete frame.attempt;
}

async function runState(run: Run, frame: Frame, state: State, signal: AbortSignal): Promise<Exit> {
  const context = run.context(frame);
  switch (state.Type) {
    case 'Task':
    case 'Parallel':
    case 'Map':
      return tryUntilDecided(run, frame, state, signal);
    case 'Pass': {
      const selected = await select(state.InputPath, frame.input, context);
      const input =
        state.Parameters === undefined ? selected : await evaluate(state.Parameters, selected, context);
      const placed = await place(
        state.ResultPath,
        frame.input,
        state.Result === undefined ? input : state.Result,
      );
      return { output: await select(state.OutputPath, placed, context), next: state.Next };
    }
    case 'Wait': {
      const input = await select(state.InputPath, frame.input, context);
      await sleepUntil(await endOfWait(run, frame, state, input), signal);
      return { output: await select(state.OutputPath, input, context), next: state.Next };
    }
    case 'Choice': {
      const input = await select(state.InputPath, frame.input, context);
      const next = await choose(state, input, context);
      return { output: await select(state.OutputPath, input, context), next };
    }
    case 'Succeed': {
      const input = await select(state.InputPath, frame.input, context);
      return { output: await select(state.OutputPath, input, context), next: undefined };
    }
    case 'Fail':
      throw await failureOf(run, frame, state);
    default:
      return state satisfies never;
  }
}

async function tryUntilDecided(
  run: Run,
  frame: Frame,
  state: FallibleState,
  signal: AbortSignal,
): Promise<Exit> {
  for (;;) {
    // The pause before a retry goes on where it was when the process stopped.
    if (!frame.attempt && frame.pausedUntilMs !== undefined) await sleepUntil(frame.pausedUntilMs, signal);
    try {
      return await attempt(run, frame, state, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = explain(error, frame);
      const note = (): void => {
        if (failure.event) run.note(frame, failure.event.type, failure.event.details);
      };
      const retry = planRetry(state.Retry, frame.retries, failure);
      if (retry) {
        run.write(signal, () => {
          note();
          forgetAttempt(run, frame);
          frame.retries = retry.used;
          frame.pausedUntilMs = Date.now() + retry.pauseMs;
          run.save(frame);
        });
        continue;
      }
      const catcher = findCatcher(state.Catch, failure);
      if (!catcher) throw failure;
      const caught = { Error: failure.error ?? '', Cause: failure.causeText ?? '' };
      return { output: await place(catcher.ResultPath, frame.input, caught), next: catcher.Next, note };
    }
  }
}

async function attempt(run: Run, frame: Frame, state: FallibleState, signal: AbortSignal): Promise<Exit> {
  const result =
    state.Type === 'Task'
      ? await attemptTask(run, frame, state, signal)
      : await attemptBranches(run, frame, state, signal, runFrame);
  const context = run.context(frame, frame.attempt?.token);
  const selected =
    state.ResultSelector === undefined ? result : await evaluate(state.ResultSelector, result, context);
  const placed = await place(state.ResultPath, frame.input, selected);
  return {
    output: await select(state.OutputPath, placed, context),
    next: state.Next,
    note: () => {
      if (state.Type === 'Task') noteTaskSucceeded(run, frame, state, result);
      else run.note(frame, `${state.Type}StateSucceeded`);
    },
  };
}

/** Reckoned from the moment the state was entered, so a Wait resumed after a restart ends when it would have. */
async function endOfWait(run: Run, frame: Frame, state: WaitState, input: Json): Promise<number> {
  const isMoment = state.Timestamp !== undefined || state.TimestampPath !== undefined;
  const path = state.SecondsPath ?? state.TimestampPath;
  const value = state.Seconds ?? state.Timestamp ?? (await select(path, input, run.context(frame)));
  if (isMoment && typeof value === 'string' && !Number.isNaN(Date.parse(value))) return Date.parse(value);
  if (!isMoment && typeof value === 'number') return frame.enteredMs + value * 1000;
  const wanted = isMoment ? 'a timestamp' : 'a number of seconds';
  throw new Failure('States.Runtime', `Wait needs ${wanted}, not ${JSON.stringify(value)}.`);
}

async function failureOf(run: Run, frame: Frame, state: FailState): Promise<Failure> {
  const context = run.context(frame);
  const text = async (literal: string | undefined, path: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return literal;
    const value = await select(path, frame.input, context);
    if (typeof value === 'string') return value;
    throw new Failure('States.Runtime', `${path} must lead to a text, not ${JSON.stringify(value)}.`);
  };
  return new Failure(await text(state.Error, state.ErrorPath), await text(state.Cause, state.CausePath));
}

/** States.Runtime says where; anything that is no Failure is a fault of this engine and ends the execution. */
function explain(error: unknown, frame: Frame): Failure {
  if (!(error instanceof Failure)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return new Failure('States.Runtime', `The local engine failed in state '${frame.state}': ${text}`);
  }
  if (error.error !== 'States.Runtime' || error.isLocated) return error;
  error.causeText =
    `An error occurred while executing the state '${frame.state}' ` +
    `(entered at the event id #${frame.enteredEventId}). ${error.causeText ?? ''}`;
  error.isLocated = true;
  return error;
}
