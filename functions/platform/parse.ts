import * as v from 'valibot';
import { type InputFault, type Refusal, refuse } from './errors.ts';
import { objectsOnly } from './objects-only.ts';

/** Parses once, at the edge. A refusal lists every fault at once and never echoes what was sent. */
export function parse<T>(
  schema: v.GenericSchema<unknown, T>,
  input: unknown,
  refused: (more: { faults: InputFault[] }) => Refusal = (more) => refuse('request.invalid', more),
): T {
  const result = explain(schema, input);
  if (result.success) return result.output;
  throw refused({ faults: result.issues.slice(0, FAULTS_MAX).map((issue) => faultOf(issue, '')) });
}

/**
 * The first fault ends the parse of an input so large that nobody would read them all: a fault costs more than a value,
 * and a body holds a hundred thousand values.
 */
function explain<T>(schema: v.GenericSchema<unknown, T>, input: unknown): v.SafeParseResult<typeof schema> {
  const strict = objectsOnly(schema);
  const first = v.safeParse(strict, input, { abortEarly: true });
  return first.success || hasMoreValuesThan(EXPLAINED_VALUES_MAX, input) ? first : v.safeParse(strict, input);
}

const EXPLAINED_VALUES_MAX = 2_000;

function hasMoreValuesThan(max: number, input: unknown): boolean {
  const pending = [input];
  for (let count = 1; pending.length > 0; count++) {
    if (count > max) return true;
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const inner of Object.values(value)) if (pending.push(inner) > max) return true;
  }
  return false;
}

interface Part {
  schema: v.GenericSchema;
  input: unknown;
  /** Stands before the pointers of this part: `?` for the query. */
  pointer: string;
}

/** Several parts of one request at once, so that one answer names every fault. */
export function parseAll<N extends string>(parts: Record<N, Part>): Record<N, unknown> {
  const faults: InputFault[] = [];
  const outputs = Object.fromEntries(
    (Object.entries(parts) as [N, Part][]).map(([name, { schema, input, pointer }]) => {
      const result = explain(schema, input);
      if (!result.success)
        faults.push(...result.issues.slice(0, FAULTS_MAX).map((issue) => faultOf(issue, pointer)));
      return [name, result.output];
    }),
  );
  if (faults.length > 0) throw refuse('request.invalid', { faults: faults.slice(0, FAULTS_MAX) });
  return outputs as Record<N, unknown>;
}

const FAULTS_MAX = 50;
const POINTER_CHARACTERS_MAX = 200;

function faultOf(issue: v.BaseIssue<unknown>, prefix: string): InputFault {
  const path = (issue.path ?? []).map(({ key }) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
  const pointer = prefix + path.map((key) => `/${key}`).join('');
  return { pointer: pointer.slice(0, POINTER_CHARACTERS_MAX), detail: detailOf(issue) };
}

function detailOf({ expected, received }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'This member is not allowed.';
  // Of a member that is missing, valibot expects the member's name.
  if (received === 'undefined' && expected?.startsWith('"')) return 'This member is required.';
  return expected ? `Expected ${expected}.` : 'This value is not allowed.';
}
