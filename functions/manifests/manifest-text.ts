// A manifest as text. YAML is read with the core schema, so that dates and yes stay text; whatever could make a small
// text a large value, or name a type, is refused by the reader itself.

import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import { type InputFault } from '../platform/errors.ts';
import { MANIFEST_DEPTH_MAX } from './manifest-bounds.ts';
import { refuse } from './problems.ts';

/** The parser's errors in our words: its own messages would repeat the input. */
const REASONS: [RegExp, string, string?][] = [
  [/duplicated mapping key/, 'each key only once; this one is repeated'],
  [/maxAliases/, 'no aliases', 'Repeat the value where it is used.'],
  [/tab characters/, 'no tabs in the indentation', 'Indent with spaces.'],
  [/tag/, 'no tags', 'Write plain values, and put quotes around text that would be read as another type.'],
  [/maxDepth/, `at most ${MANIFEST_DEPTH_MAX} levels`],
  [/complex keys/, 'keys that are plain text'],
  [/single document/, 'one document', 'Send each manifest in its own request.'],
  [/input is empty/, 'a manifest; the text is empty'],
];

export function parseYaml(text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA, maxDepth: MANIFEST_DEPTH_MAX, maxAliases: 0 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw refuse('manifest.malformed', { faults: [faultOf(error)] });
  }
}

function faultOf({ reason, mark }: YAMLException): InputFault {
  const [, expected = 'valid YAML', hint] = REASONS.find(([pattern]) => pattern.test(reason)) ?? [];
  const where = mark ? ` Line ${mark.line + 1}, column ${mark.column + 1}.` : '';
  return { pointer: '', detail: `Expected ${expected}.${where}`, ...(hint && { hint }) };
}
