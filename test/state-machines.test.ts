import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../lib/bundle.ts';

interface Handler {
  ErrorEquals: string[];
  Next?: string;
  MaxAttempts?: number;
  MaxDelaySeconds?: number;
  JitterStrategy?: string;
}

interface State {
  Type: string;
  Resource?: string;
  TimeoutSeconds?: number;
  HeartbeatSeconds?: number;
  Parameters?: Record<string, unknown>;
  Retry?: Handler[];
  Catch?: Handler[];
  Next?: string;
  Default?: string;
  End?: boolean;
  Choices?: { Next: string }[];
}

interface Machine {
  Comment?: string;
  StartAt: string;
  TimeoutSeconds?: number;
  QueryLanguage?: string;
  States: Record<string, State>;
}

const machines = globSync('*.asl.json', { cwd: join(ROOT, 'state-machines') }).map((file) => {
  const text = readFileSync(join(ROOT, 'state-machines', file), 'utf8');
  return { file, text, machine: JSON.parse(text) as Machine };
});

const states = machines.flatMap(({ file, machine }) =>
  Object.entries(machine.States).map(([name, state]) => ({ file, name, state })),
);
const tasks = states.filter(({ state }) => state.Type === 'Task');

// Worth another try unchanged. Everything else is an answer, and asking again would only delay it.
const TRANSIENT = [
  // What our own functions say of whatever passes.
  'unavailable',
  // Lambda itself could not be reached, or had no room.
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.TooManyRequestsException',
  // The function ended without an answer: its time was over, or its sandbox broke down.
  'Lambda.Unknown',
  'Sandbox.Timedout',
];

test('there are state machines', () => {
  expect(machines.length).toBeGreaterThan(0);
});

describe.each(machines)('$file', ({ file, text, machine }) => {
  test('is named by verb and noun', () => {
    expect(basename(file, '.asl.json')).toMatch(/^[a-z]+(-[a-z]+)+$/);
  });

  test('says what holds on every exit, and ends by itself', () => {
    expect(machine.Comment?.length).toBeGreaterThan(40);
    expect(machine.TimeoutSeconds).toBeGreaterThan(0);
  });

  test('is JSONPath: the interpreter on this machine would pass JSONata over in silence', () => {
    expect(machine.QueryLanguage ?? 'JSONPath').toBe('JSONPath');
    expect(text).not.toContain('{%');
  });

  test('reaches every state and leads nowhere else', () => {
    const reached = new Set<string>();
    const walk = (name: string): void => {
      if (reached.has(name)) return;
      reached.add(name);
      for (const next of successors(machine.States[name])) walk(next);
    };
    walk(machine.StartAt);
    expect([...reached].sort()).toEqual(Object.keys(machine.States).sort());
  });

  test('names its states in words a person understands in the console', () => {
    for (const name of Object.keys(machine.States)) expect(name).toMatch(/^([A-Z][a-z]+){2,}$/);
  });

  test('names the functions it calls only by substitution', () => {
    expect(text).not.toMatch(/arn:aws:lambda/);
  });
});

describe.each(tasks)('$file $name', ({ name, state }) => {
  test('has a time-out, and a final catch', () => {
    expect(state.TimeoutSeconds).toBeGreaterThan(0);
    expect(state.Catch?.at(-1)?.ErrorEquals).toEqual(['States.ALL']);
  });

  test('retries all that is transient, with jitter and a cap, and nothing else', () => {
    expect(state.Retry?.flatMap(({ ErrorEquals }) => ErrorEquals)).toEqual(TRANSIENT);
    for (const retry of state.Retry ?? []) {
      expect(retry.MaxAttempts).toBeGreaterThanOrEqual(2);
      expect(retry.JitterStrategy).toBe('FULL');
      expect(retry.MaxAttempts).toBeLessThanOrEqual(20);
      expect(retry.MaxDelaySeconds).toBeGreaterThan(0);
    }
  });

  test('waits for a token only if its name says so, and then for a heartbeat too', () => {
    const waits = state.Resource?.endsWith('.waitForTaskToken') ?? false;
    expect(waits).toBe(name.startsWith('Await'));
    expect(JSON.stringify(state.Parameters).includes('$$.Task.Token')).toBe(waits);
    expect(waits === (state.HeartbeatSeconds ?? Infinity) < (state.TimeoutSeconds ?? 0)).toBe(true);
  });
});

test('every state that takes something has one that gives it back', () => {
  const takers = states.filter(({ name }) => /^(Hold|Mint|Reserve|Allocate|Create)[A-Z]/.test(name));
  const orphans = takers.filter(({ file, name }) => {
    const noun = name.replace(/^[A-Z][a-z]+/, '');
    return !states.some(
      (other) => other.file === file && other.name.startsWith('Undo') && other.name.endsWith(noun),
    );
  });
  expect(orphans).toEqual([]);
});

function successors(state: State | undefined): string[] {
  if (!state) return [];
  const handlers = [...(state.Catch ?? []), ...(state.Choices ?? [])];
  return [state.Next, state.Default, ...handlers.map(({ Next }) => Next)].filter(
    (next) => next !== undefined,
  );
}
