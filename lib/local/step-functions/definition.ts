import { StateMachine } from 'aws-local-stepfunctions';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { allStates, itemProcessor, type Definition, type State } from './asl.ts';
import { expressionsOf, withoutQuotedText } from './expressions.ts';
import { HOSTED_RESOURCES, parseResource } from './resources.ts';

const INTRINSICS = new Set(
  (
    'Array ArrayContains ArrayGetItem ArrayLength ArrayPartition ArrayRange ArrayUnique ' +
    'Base64Decode Base64Encode Format Hash JsonMerge MathAdd MathRandom StringSplit StringToJson UUID'
  )
    .split(' ')
    .map((name) => `States.${name}`),
);

const FIELDS_NOT_HOSTED: Record<string, string> = {
  Arguments: 'Arguments belongs to JSONata',
  Output: 'Output belongs to JSONata',
  Assign: 'variables are not hosted',
  Credentials: 'cross-account calls are not hosted',
  ItemReader: 'only inline Map is hosted',
  ItemBatcher: 'only inline Map is hosted',
  ResultWriter: 'only inline Map is hosted',
  ToleratedFailureCount: 'only inline Map is hosted',
  ToleratedFailureCountPath: 'only inline Map is hosted',
  ToleratedFailurePercentage: 'only inline Map is hosted',
  ToleratedFailurePercentagePath: 'only inline Map is hosted',
};

/**
 * Validating takes 150 ms, and every machine is put again whenever one function is edited. Which function a task calls
 * makes no difference to it.
 */
const validated = new Set<string>();
const FUNCTION_ARN = /arn:aws:lambda:[^"]+/g;

/** Refuses what this machine could not run as AWS would, in a sentence that names machine and state. */
export function checkDefinition(machine: string, definition: object): Definition {
  const asl = definition as Definition;
  const refuse = (reason: string): never => {
    throw new Error(`State machine ${machine} cannot run on the local engine: ${reason}.`);
  };
  if (isJsonata(definition)) refuse('its QueryLanguage is JSONata, and only JSONPath is hosted');
  for (const [name, state] of statesIn(asl)) {
    const reason = problemOf(state);
    if (reason) refuse(`in state ${name}, ${reason}`);
  }
  const text = JSON.stringify(definition).replaceAll(FUNCTION_ARN, 'function');
  if (validated.has(text)) return asl;
  try {
    validate(definition);
  } catch (error) {
    const found = (error as Error).message.split('\n').slice(1);
    refuse(found.map((line) => line.trim()).join('; '));
  }
  validated.add(text);
  return asl;
}

function validate(definition: object): StateMachine {
  // The constructor validates, and writes defaults into what it reads.
  return new StateMachine(structuredClone(definition) as StateMachineDefinition);
}

function problemOf(state: State): string | undefined {
  if (isJsonata(state)) return 'QueryLanguage is JSONata, and only JSONPath is hosted';
  for (const [field, reason] of Object.entries(FIELDS_NOT_HOSTED)) if (field in state) return reason;
  const paths = [
    ...('Catch' in state ? (state.Catch ?? []) : []),
    ...('Choices' in state ? state.Choices : []),
  ];
  if (paths.some((path) => 'Assign' in path || 'Output' in path)) {
    return 'Assign and Output in a Catch or Choice are not hosted';
  }
  if (state.Type === 'Map' && itemProcessor(state).ProcessorConfig?.Mode === 'DISTRIBUTED') {
    return 'only inline Map is hosted, not DISTRIBUTED';
  }
  if (state.Type === 'Task') {
    if (!parseResource(state.Resource)) {
      return `the resource ${state.Resource} is not hosted; hosted are ${HOSTED_RESOURCES.join(', ')} and functions by ARN`;
    }
    if ((state.HeartbeatSeconds ?? 0) >= (state.TimeoutSeconds ?? Infinity)) {
      return 'HeartbeatSeconds must be smaller than TimeoutSeconds';
    }
  }
  for (const expression of expressionsOf(state)) {
    const reason = problemOfExpression(expression);
    if (reason) return reason;
  }
  return undefined;
}

function problemOfExpression(expression: string): string | undefined {
  if (!expression.startsWith('$') && !expression.startsWith('States.')) {
    return `${expression} is neither a path nor an intrinsic function`;
  }
  const code = withoutQuotedText(expression);
  const variable = /(?<![\w.$])\$[A-Za-z_]\w*/.exec(code);
  if (variable) return `the variable ${variable[0]} is not hosted`;
  for (const [name] of code.matchAll(/States\.\w+(?=\()/g)) {
    // The interpreter strips every backslash from a text it made, so the JSON would not parse again.
    if (name === 'States.JsonToString') {
      return 'States.JsonToString is not hosted; pass the object itself, a task takes it as it is';
    }
    if (!INTRINSICS.has(name)) return `the intrinsic function ${name} is not hosted`;
  }
  return undefined;
}

function isJsonata(value: object): boolean {
  return 'QueryLanguage' in value && value.QueryLanguage === 'JSONata';
}

/** As many states as a definition that is not validated yet lets one see. */
function statesIn(definition: Definition): [name: string, state: State][] {
  try {
    return [...allStates(definition)];
  } catch {
    // Misshapen: the validator says how.
    return [];
  }
}
