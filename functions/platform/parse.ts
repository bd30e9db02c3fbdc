import * as v from 'valibot';
import { type InputFault, type Refusal, refuse } from './errors.ts';
import { objectsOnly } from './objects-only.ts';

/** Parses once, at the edge. A refusal lists every fault at once and never echoes what was sent. */
export function parse<T>(
  schema: v.GenericSchema<unknown, T>,
  input: unknown,
  refused: (more: { faults: InputFault[] }) => Refusal = (more) => refuse('request.invalid', more),
): T {
  const result = v.safeParse(objectsOnly(schema), input);
  if (result.success) return result.output;
  throw refused({ faults: result.issues.map((issue) => faultOf(issue, '')) });
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
      const result = v.safeParse(objectsOnly(schema), input);
      if (!result.success) faults.push(...result.issues.map((issue) => faultOf(issue, pointer)));
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
