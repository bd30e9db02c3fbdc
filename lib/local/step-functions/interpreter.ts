import { ExecutionError, StateMachine } from 'aws-local-stepfunctions';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import type { ChoiceState, Json, JsonObject } from './asl.ts';
import { mapRule, mapTemplate, replaceRoots } from './expressions.ts';
import { Failure } from './failure.ts';

// The npm interpreter is asked one question at a time: evaluate a template, choose a branch, place a
// result. Moving from state to state, retrying, waiting and calling are done elsewhere, from the
// journal: the interpreter keeps all of that in memory and cannot continue what another process began.
//
// Every question is put with the data under `Input` and the context object under `Context`. It reads
// a root that is null, 0, false or '' as absent, and overwrites `$$.Execution` with its own.

const ROOTS = { input: '$.Input', context: '$$.Context' };
const toRoots = (expression: string): string => replaceRoots(expression, ROOTS);
const fromRoots = (message: string): string =>
  message.replaceAll('$$.Context', '$$$$').replaceAll('$.Input', '$$');

export async function evaluate(template: Json, root: Json, context: JsonObject): Promise<Json> {
  const { result } = ask(
    {
      StartAt: 'ask',
      States: { ask: { Type: 'Pass', Parameters: { value: mapTemplate(template, toRoots) }, End: true } },
    },
    root,
    context,
  );
  const { value } = (await result) as { value: Json };
  return value;
}

/** InputPath and OutputPath: absent is the whole, null is the empty object. */
export async function select(
  path: string | null | undefined,
  root: Json,
  context: JsonObject,
): Promise<Json> {
  if (path === undefined || path === '$') return root;
  if (path === null) return {};
  return ((await evaluate({ 'value.$': path }, root, context)) as { value: Json }).value;
}

/** ResultPath: absent replaces the input, null discards the result. */
export async function place(path: string | null | undefined, input: Json, result: Json): Promise<Json> {
  if (path === undefined || path === '$') return result;
  if (path === null) return input;
  // It drops a leading `$.` only, and would file `$['a']` under the key `$`.
  const reference = path.startsWith('$[') ? `$.${path.slice(1)}` : path;
  const machine = build({
    StartAt: 'place',
    States: { place: { Type: 'Task', Resource: 'place', ResultPath: reference, End: true } },
  });
  return settle(
    machine.run(input, {
      overrides: { taskResourceLocalHandlers: { place: () => result } },
    }).result,
  );
}

/** The name of the state a Choice goes to. */
export async function choose(state: ChoiceState, root: Json, context: JsonObject): Promise<string> {
  const targets: Record<string, string> = {};
  const rules = state.Choices.map((rule, index) => {
    targets[`rule ${index}`] = rule.Next;
    return { ...(mapRule(strictRule(rule), toRoots) as JsonObject), Next: `rule ${index}` };
  });
  if (state.Default !== undefined) targets['default'] = state.Default;
  const ends = Object.fromEntries(Object.keys(targets).map((name) => [name, { Type: 'Succeed' }]));
  const choice = {
    Type: 'Choice',
    Choices: rules,
    ...(state.Default !== undefined && { Default: 'default' }),
  };
  const { result, eventLogs } = ask({ StartAt: 'choice', States: { choice, ...ends } }, root, context);
  await result;
  for await (const event of eventLogs) {
    if (event.type !== 'StateEntered') continue;
    const target = targets[event.state.name];
    if (target !== undefined) return target;
  }
  throw new Error('The interpreter ended a Choice without choosing.');
}

/**
 * A comparison holds only between values of one type, and `IsPresent: false` asks for absence. The
 * interpreter compares as JavaScript does and takes `false` for "never".
 */
function strictRule(rule: JsonObject): JsonObject {
  const { Next: _next, ...test } = rule;
  if (Array.isArray(test['And'])) return { And: test['And'].map((inner) => strictRule(inner as JsonObject)) };
  if (Array.isArray(test['Or'])) return { Or: test['Or'].map((inner) => strictRule(inner as JsonObject)) };
  if (test['Not']) return { Not: strictRule(test['Not'] as JsonObject) };

  const operator = Object.keys(test).find((key) => key !== 'Variable' && key !== 'Comment') ?? '';
  const bare: JsonObject = { Variable: test['Variable'] ?? null, [operator]: test[operator] ?? null };
  if (operator.startsWith('Is'))
    return test[operator] === false ? { Not: { ...bare, [operator]: true } } : bare;
  // In ASL only `*` is a wildcard; to the interpreter `?` is one, too.
  const pattern = test['StringMatches'];
  if (typeof pattern === 'string') bare['StringMatches'] = pattern.replaceAll('?', '\\?');
  const type = /^(String|Numeric|Boolean|Timestamp)/.exec(operator)?.[1];
  return type ? { And: [{ Variable: bare['Variable'] ?? null, [`Is${type}`]: true }, bare] } : bare;
}

function ask(definition: object, root: Json, context: JsonObject) {
  const run = build(definition).run({ Input: root }, { context: { Context: context } });
  return { result: settle(run.result), eventLogs: run.eventLogs };
}

function build(definition: object): StateMachine {
  // Validated when the machine was put; validating again would cost 150 ms a question.
  return new StateMachine(definition as StateMachineDefinition, { validationOptions: { noValidate: true } });
}

async function settle(result: Promise<unknown>): Promise<Json> {
  try {
    return (await result) as Json;
  } catch (error) {
    const cause = error instanceof ExecutionError ? error.cause : error;
    if (!(cause instanceof Error)) throw error;
    const isKnown = cause.name.startsWith('States.') && !cause.message.startsWith('Intrinsic function');
    throw new Failure(isKnown ? cause.name : 'States.IntrinsicFailure', fromRoots(cause.message));
  }
}
