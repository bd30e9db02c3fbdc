import { expect, test } from 'vitest';
import { checkDefinition } from '../../../lib/local/step-functions/definition.ts';

const only = (state: object): object => ({ StartAt: 'Only', States: { Only: { End: true, ...state } } });
const task = (rest: object): object =>
  only({ Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', ...rest });
const inside = (state: object): object => ({ StartAt: 'Inner', States: { Inner: { End: true, ...state } } });

test.each<[string, object, RegExp]>([
  [
    'a resource it does not host',
    task({ Resource: 'arn:aws:states:::ecs:runTask.sync' }),
    /state Only, the resource arn:aws:states:::ecs:runTask\.sync is not hosted; hosted are arn:aws:states:::lambda:invoke, /,
  ],
  [
    'an activity',
    task({ Resource: 'arn:aws:states:us-east-1:000000000000:activity:a' }),
    /state Only, the resource .*activity:a is not hosted/,
  ],
  [
    'an SDK integration',
    task({ Resource: 'arn:aws:states:::aws-sdk:s3:getObject' }),
    /state Only, the resource .*aws-sdk/,
  ],
  [
    'waiting for a token from DynamoDB',
    task({ Resource: 'arn:aws:states:::dynamodb:putItem.waitForTaskToken' }),
    /state Only, the resource/,
  ],
  [
    'such a resource inside a Map',
    only({ Type: 'Map', ItemProcessor: inside({ Type: 'Task', Resource: 'arn:aws:states:::sns:publish' }) }),
    /state Inner, the resource arn:aws:states:::sns:publish/,
  ],
  ['JSONata', { ...only({ Type: 'Pass' }), QueryLanguage: 'JSONata' }, /its QueryLanguage is JSONata/],
  [
    'JSONata in one state',
    only({ Type: 'Pass', QueryLanguage: 'JSONata' }),
    /state Only, QueryLanguage is JSONata/,
  ],
  ['variables assigned', only({ Type: 'Pass', Assign: { x: 1 } }), /state Only, variables are not hosted/],
  [
    'variables used',
    only({ Type: 'Pass', Parameters: { 'x.$': '$name.first' } }),
    /state Only, the variable \$name is not hosted/,
  ],
  [
    'variables assigned where an error is caught',
    {
      StartAt: 'Only',
      States: {
        Only: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke',
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Only', Assign: { x: 1 } }],
          End: true,
        },
      },
    },
    /state Only, Assign and Output in a Catch or Choice are not hosted/,
  ],
  [
    'an unknown intrinsic function',
    only({ Type: 'Pass', Parameters: { a: { 'x.$': 'States.Nope(1)' } } }),
    /state Only, the intrinsic function States\.Nope is not hosted/,
  ],
  [
    'an unknown intrinsic function as an argument',
    only({ Type: 'Pass', Parameters: { 'x.$': 'States.Array(States.Nope(1))' } }),
    /States\.Nope is not hosted/,
  ],
  [
    'States.JsonToString',
    only({ Type: 'Pass', Parameters: { 'x.$': 'States.JsonToString($)' } }),
    /state Only, States\.JsonToString is not hosted; pass the object itself/,
  ],
  [
    'a Map that is distributed',
    only({
      Type: 'Map',
      ItemProcessor: {
        ...inside({ Type: 'Pass' }),
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
      },
    }),
    /state Only, only inline Map is hosted/,
  ],
  [
    'credentials of another account',
    task({ Credentials: { RoleArn: 'arn' } }),
    /state Only, cross-account calls/,
  ],
  [
    'a heartbeat as long as the timeout',
    task({ HeartbeatSeconds: 5, TimeoutSeconds: 5 }),
    /state Only, HeartbeatSeconds must be smaller/,
  ],
  [
    'a name used twice, also across branches',
    only({ Type: 'Parallel', Branches: [inside({ Type: 'Pass' }), inside({ Type: 'Pass' })] }),
    /DUPLICATE_STATE_NAMES.*Inner/,
  ],
  [
    'a transition to nowhere',
    { StartAt: 'Only', States: { Only: { Type: 'Pass', Next: 'Nowhere' } } },
    /MISSING_TRANSITION_TARGET.*Nowhere/,
  ],
  [
    'a field that is no field',
    only({ Type: 'Pass', Paramters: {} }),
    /SCHEMA_VALIDATION_FAILED.*\/States\/Only/,
  ],
  ['no states at all', {}, /SCHEMA_VALIDATION_FAILED/],
  ['a Map without a processor', only({ Type: 'Map' }), /MAP_ITEM_PROCESSOR|SCHEMA_VALIDATION_FAILED/],
])('%s is refused in a sentence that names the machine', (_what, definition, sentence) => {
  const check = (): unknown => checkDefinition('deploy', definition);
  expect(check).toThrow(/^State machine deploy cannot run on the local engine: /);
  expect(check).toThrow(sentence);
});

test('quoted text that looks like a function, a variable or a path is only text', () => {
  const parameters = { 'x.$': "States.Format('States.Nope() $name {}', $.a)", y: '$name' };
  expect(() => checkDefinition('deploy', only({ Type: 'Pass', Parameters: parameters }))).not.toThrow();
});

test('the definition is not changed by being checked', () => {
  const definition = only({ Type: 'Wait', Seconds: 1 });
  const before = JSON.stringify(definition);
  checkDefinition('deploy', definition);
  expect(JSON.stringify(definition)).toBe(before);
});
