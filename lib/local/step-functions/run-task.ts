import { REGION } from '../wire/aws.ts';
import type { Json, JsonObject, TaskState } from './asl.ts';
import { sleepUntil } from './clock.ts';
import { Failure } from './failure.ts';
import type { Attempt, Frame } from './frame.ts';
import { evaluate, select } from './interpreter.ts';
import { parseResource, type Resource } from './resources.ts';
import { checkPayload, UNTRUNCATED, type Run } from './run.ts';
import { Tokens } from './tokens.ts';

/** One attempt at a Task: called, awaited and timed. The journal says how far an interrupted one came. */
export async function attemptTask(
  run: Run,
  frame: Frame,
  state: TaskState,
  signal: AbortSignal,
): Promise<Json> {
  const resource = parseResource(state.Resource);
  if (!resource) throw new Error(`The resource ${state.Resource} passed validation but is not hosted.`);
  const attempt = frame.attempt ?? (await begin(run, frame, state, resource, signal));
  // Ends the timers and whatever else is still waiting once one of the three below has decided.
  const decided = new AbortController();
  const undecided = AbortSignal.any([signal, decided.signal]);
  try {
    // Checked before the clocks: an answer given just before a crash counts, however long the process was down.
    if (attempt.token !== undefined && run.tokens.isAnswered(attempt.token)) {
      return checkPayload(frame.state, await run.tokens.answerTo(attempt.token, signal));
    }
    const outcomes = [perform(run, frame, resource, attempt, undecided)];
    if (attempt.timeoutSeconds !== undefined)
      outcomes.push(deadline(attempt, attempt.timeoutSeconds, undecided));
    if (attempt.heartbeatSeconds !== undefined && attempt.token !== undefined) {
      outcomes.push(missedHeartbeat(run, attempt.token, attempt.heartbeatSeconds, undecided));
    }
    return checkPayload(frame.state, await Promise.race(outcomes));
  } catch (error) {
    if (error instanceof Failure) error.event = failureEvent(resource, error);
    throw error;
  } finally {
    decided.abort();
  }
}

async function begin(
  run: Run,
  frame: Frame,
  state: TaskState,
  resource: Resource,
  signal: AbortSignal,
): Promise<Attempt> {
  const token = resource.waitsForToken ? Tokens.mint(run.execution.machineArn) : undefined;
  const context = run.context(frame, token);
  const selected = await select(state.InputPath, frame.input, context);
  const input =
    state.Parameters === undefined ? selected : await evaluate(state.Parameters, selected, context);
  const attempt: Attempt = {
    startedMs: Date.now(),
    input: checkPayload(frame.state, input),
    timeoutSeconds: state.TimeoutSeconds ?? (await seconds(state.TimeoutSecondsPath, selected, context)),
    heartbeatSeconds:
      state.HeartbeatSeconds ?? (await seconds(state.HeartbeatSecondsPath, selected, context)),
    ...(token !== undefined && { token }),
  };
  run.write(signal, () => {
    noteScheduled(run, frame, resource, attempt);
    if (token !== undefined) run.tokens.add(token, run.execution.arn, frame.path);
    frame.attempt = attempt;
    delete frame.pausedUntilMs;
    run.save(frame);
  });
  return attempt;
}

async function seconds(
  path: string | undefined,
  input: Json,
  context: JsonObject,
): Promise<number | undefined> {
  if (path === undefined) return undefined;
  const value = await select(path, input, context);
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new Failure(
    'States.Runtime',
    `${path} must lead to a positive whole number of seconds, not ${JSON.stringify(value)}.`,
  );
}

async function perform(
  run: Run,
  frame: Frame,
  resource: Resource,
  attempt: Attempt,
  undecided: AbortSignal,
): Promise<Json> {
  const { token } = attempt;
  // A timeout or an early answer does not recall a call that was made, here as on AWS.
  const call = (): Promise<Json> =>
    run.tasks.call(
      { name: run.execution.machineName, roleArn: run.execution.roleArn },
      resource,
      attempt.input,
      run.halted,
    );
  if (token === undefined) return call();

  const answer = run.tokens.answerTo(token, undecided);
  if (attempt.submitted) return answer;
  const submission = call().then((output) => {
    run.write(undecided, () => {
      attempt.submitted = true;
      run.note(frame, 'TaskSubmitted', {
        ...taskNames(resource),
        output: JSON.stringify(output),
        outputDetails: UNTRUNCATED,
      });
      run.save(frame);
    });
    return answer;
  });
  // The answer may be there before the call that handed out the token returns.
  return Promise.race([submission, answer]);
}

async function deadline(attempt: Attempt, timeoutSeconds: number, signal: AbortSignal): Promise<never> {
  await sleepUntil(attempt.startedMs + timeoutSeconds * 1000, signal);
  throw new Failure('States.Timeout');
}

async function missedHeartbeat(
  run: Run,
  token: string,
  heartbeatSeconds: number,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    const dueMs = run.tokens.lastBeatMs(token) + heartbeatSeconds * 1000;
    if (dueMs <= Date.now()) throw new Failure('States.HeartbeatTimeout');
    await sleepUntil(dueMs, signal);
  }
}

function noteScheduled(run: Run, frame: Frame, resource: Resource, attempt: Attempt): void {
  const timeouts = { timeoutInSeconds: attempt.timeoutSeconds, heartbeatInSeconds: attempt.heartbeatSeconds };
  const input = JSON.stringify(attempt.input);
  if (resource.functionArn !== undefined) {
    run.note(frame, 'LambdaFunctionScheduled', {
      resource: resource.functionArn,
      input,
      inputDetails: UNTRUNCATED,
      timeoutInSeconds: attempt.timeoutSeconds,
    });
    run.note(frame, 'LambdaFunctionStarted');
    return;
  }
  run.note(frame, 'TaskScheduled', {
    ...taskNames(resource),
    region: REGION,
    parameters: input,
    ...timeouts,
  });
  run.note(frame, 'TaskStarted', taskNames(resource));
}

export function noteTaskSucceeded(run: Run, frame: Frame, state: TaskState, result: Json): void {
  const resource = parseResource(state.Resource);
  const output = { output: JSON.stringify(result), outputDetails: UNTRUNCATED };
  if (!resource || resource.functionArn !== undefined) run.note(frame, 'LambdaFunctionSucceeded', output);
  else run.note(frame, 'TaskSucceeded', { ...taskNames(resource), ...output });
}

function failureEvent(resource: Resource, failure: Failure): Failure['event'] {
  const isTimeout = failure.error === 'States.Timeout' || failure.error === 'States.HeartbeatTimeout';
  const ending = isTimeout ? 'TimedOut' : 'Failed';
  const details = { error: failure.error, cause: failure.causeText };
  if (resource.functionArn !== undefined) return { type: `LambdaFunction${ending}`, details };
  return { type: `Task${ending}`, details: { ...taskNames(resource), ...details } };
}

function taskNames(resource: Resource): { resourceType: string; resource: string } {
  const [service = '', action = ''] = resource.integration.split(':');
  return { resourceType: service, resource: resource.waitsForToken ? `${action}.waitForTaskToken` : action };
}
