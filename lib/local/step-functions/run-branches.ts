import {
  itemProcessor,
  type Definition,
  type Json,
  type JsonObject,
  type MapState,
  type ParallelState,
} from './asl.ts';
import { Failure } from './failure.ts';
import { childPath, type Attempt, type Frame } from './frame.ts';
import { evaluate, select } from './interpreter.ts';
import { checkPayload, newFrame, stateNamed, type Run } from './run.ts';

export type RunFrame = (run: Run, frame: Frame, definition: Definition, signal: AbortSignal) => Promise<Json>;

/** Inline Map on AWS runs no more than this at once, whatever MaxConcurrency says. */
const MAP_CONCURRENCY_MAX = 40;

interface Branch {
  definition: Definition;
  input: Json;
  place: Pick<Frame, 'item' | 'iteration'>;
}

/** One attempt at a Parallel or Map. Branches that ended before a restart are not run again. */
export async function attemptBranches(
  run: Run,
  frame: Frame,
  state: ParallelState | MapState,
  signal: AbortSignal,
  runFrame: RunFrame,
): Promise<Json> {
  const attempt = frame.attempt ?? (await begin(run, frame, state, signal));
  const { branches, concurrency } = planBranches(frame, state, attempt);
  const startedEventId = frame.lastEventId;
  const group = new AbortController();
  const together = AbortSignal.any([signal, group.signal]);
  const outputs: Json[] = [];
  let firstError: unknown;
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < branches.length; index = next++) {
      const branch = branches[index];
      if (!branch) continue;
      const child = openBranch(run, childPath(frame, index), startedEventId, branch, together);
      try {
        outputs[index] = await runFrame(run, child, branch.definition, together);
      } finally {
        frame.lastEventId = Math.max(frame.lastEventId, child.lastEventId);
      }
    }
  };
  const lanes = Array.from({ length: Math.min(concurrency, branches.length) }, () =>
    lane().catch((error: unknown) => {
      firstError ??= error;
      group.abort();
    }),
  );
  // Also after a failure all are awaited: a branch called off must have stopped before its frame is deleted.
  await Promise.all(lanes);
  signal.throwIfAborted();
  if (firstError instanceof Failure) firstError.event = { type: `${state.Type}StateFailed` };
  if (firstError !== undefined) throw firstError;
  return checkPayload(frame.state, outputs);
}

async function begin(
  run: Run,
  frame: Frame,
  state: ParallelState | MapState,
  signal: AbortSignal,
): Promise<Attempt> {
  const context = run.context(frame);
  const selected = await select(state.InputPath, frame.input, context);
  const input =
    state.Type === 'Map'
      ? await mapItems(run, frame, state, selected)
      : await parallelInput(state, selected, context);
  const attempt: Attempt = { startedMs: Date.now(), input };
  run.write(signal, () => {
    const details =
      state.Type === 'Map' ? { length: (input as unknown as MapInput).items.length } : undefined;
    run.note(frame, `${state.Type}StateStarted`, details);
    frame.attempt = attempt;
    delete frame.pausedUntilMs;
    run.save(frame);
  });
  return attempt;
}

function parallelInput(state: ParallelState, selected: Json, context: JsonObject): Promise<Json> {
  return state.Parameters === undefined
    ? Promise.resolve(selected)
    : evaluate(state.Parameters, selected, context);
}

interface MapInput {
  items: Json[];
  /** What each item's processor starts with. */
  inputs: Json[];
  concurrency: number;
}

async function mapItems(run: Run, frame: Frame, state: MapState, selected: Json): Promise<Json> {
  const context = run.context(frame);
  const items = await select(state.ItemsPath, selected, context);
  if (!Array.isArray(items)) {
    throw new Failure('States.Runtime', `${state.ItemsPath ?? 'The input'} must be an array to be mapped.`);
  }
  const asked =
    state.MaxConcurrencyPath === undefined
      ? (state.MaxConcurrency ?? 0)
      : Number(await select(state.MaxConcurrencyPath, selected, context));
  if (!Number.isInteger(asked) || asked < 0) {
    throw new Failure(
      'States.Runtime',
      `${state.MaxConcurrencyPath} must lead to a whole number, 0 or more.`,
    );
  }
  const selector = state.ItemSelector ?? state.Parameters;
  const inputs: Json[] = [];
  for (const [index, value] of items.entries()) {
    const itemContext = run.context({ ...frame, item: { index, value } });
    inputs.push(selector === undefined ? value : await evaluate(selector, selected, itemContext));
  }
  const concurrency = asked === 0 ? MAP_CONCURRENCY_MAX : Math.min(asked, MAP_CONCURRENCY_MAX);
  return { items, inputs, concurrency };
}

function planBranches(
  frame: Frame,
  state: ParallelState | MapState,
  attempt: Attempt,
): { branches: Branch[]; concurrency: number } {
  if (state.Type === 'Parallel') {
    const place = frame.item ? { item: frame.item } : {};
    const branches = state.Branches.map((definition) => ({ definition, input: attempt.input, place }));
    return { branches, concurrency: branches.length };
  }
  const { items, inputs, concurrency } = attempt.input as unknown as MapInput;
  const definition = itemProcessor(state);
  const branches = items.map((value, index) => ({
    definition,
    input: inputs[index] ?? null,
    place: { item: { index, value }, iteration: { name: frame.state, index } },
  }));
  return { branches, concurrency };
}

function openBranch(
  run: Run,
  path: string,
  previousEventId: number,
  branch: Branch,
  signal: AbortSignal,
): Frame {
  const known = run.store.frame(run.execution.arn, path);
  if (known) return known;
  const { definition, input, place } = branch;
  const child = newFrame(path, previousEventId, place);
  run.write(signal, () => {
    if (place.iteration) run.note(child, 'MapIterationStarted', place.iteration);
    run.enter(child, definition.StartAt, stateNamed(definition, definition.StartAt), input);
  });
  return child;
}
