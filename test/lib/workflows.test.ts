import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ofType, type Resource, synthesizedApp } from './synthesized.ts';

// What a state machine calls, as it is deployed.

interface Task {
  Type: string;
  TimeoutSeconds: number;
  Parameters: { FunctionName: string };
}

const { platform, outdir } = synthesizedApp();

const tasks = ofType(platform, 'AWS::StepFunctions::StateMachine').flatMap(([, { Properties }]) => {
  const file = join(outdir, `asset.${String(Properties['DefinitionS3Location'].Key)}`);
  const definition = JSON.parse(readFileSync(file, 'utf8')) as { States: Record<string, Task> };
  return Object.entries(definition.States)
    .filter(([, { Type }]) => Type === 'Task')
    .map(([state, { TimeoutSeconds, Parameters }]) => ({
      name: `${String(Properties['StateMachineName'])} ${state}`,
      TimeoutSeconds,
      fn: calledBy(Properties, Parameters.FunctionName),
    }));
});

/** The function whose name the definition has substituted. */
function calledBy(
  { DefinitionSubstitutions }: Resource['Properties'],
  name: string,
): Resource['Properties'] | undefined {
  const value = DefinitionSubstitutions[name.replace(/^\$\{|\}$/g, '')] as { 'Fn::GetAtt': [string] };
  return platform[value['Fn::GetAtt'][0]]?.Properties;
}

describe('a task', () => {
  test.each(tasks)('of $name outlasts the function it calls, whose own end is retried', (task) => {
    expect(task.fn?.['Timeout']).toBeGreaterThan(0);
    expect(task.TimeoutSeconds).toBeGreaterThan(task.fn?.['Timeout']);
  });

  test('is in each of the machines', () => {
    expect(new Set(tasks.map(({ name }) => name.split(' ')[0])).size).toBe(
      ofType(platform, 'AWS::StepFunctions::StateMachine').length,
    );
  });
});
