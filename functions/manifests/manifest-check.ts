// What the checks of a manifest share.

import type { InputFault } from '../platform/errors.ts';
import type { Manifest } from './manifest-canonical.ts';

export interface Check {
  /** Members of app and version; the check runs where all of them could be read. */
  reads: string[];
  /** Pointers are those of the canonical manifest. */
  find: (manifest: Manifest) => InputFault[];
}

/** Where artifacts are told of, in either way. */
export const ARTIFACTS = ['/version/artifacts', '/version/artifact_ref', '/version/artifact_kind'];

export function faultIf(isWrong: boolean, pointer: string, detail: string, hint?: string): InputFault[] {
  return isWrong ? [{ pointer, detail, ...(hint !== undefined && { hint }) }] : [];
}

/** Everything that stands in a list a second time. */
export function repeated(values: readonly unknown[], pointer: string, member = ''): InputFault[] {
  const seen = new Set<unknown>();
  return values.flatMap((value, index) => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return faultIf(isRepeated, `${pointer}/${index}${member}`, 'Expected each entry only once in the list.');
  });
}

/** A name that must be declared elsewhere; an omitted name is no fault. */
export function unknownName(
  name: string | undefined,
  known: readonly string[],
  pointer: string,
  what: string,
): InputFault[] {
  const isUnknown = name !== undefined && !known.includes(name);
  const hint = known.length > 0 ? 'Check the spelling.' : 'None is declared: add one.';
  return faultIf(isUnknown, pointer, `Expected the name of ${what}.`, hint);
}

export function unknownNames(
  names: readonly string[],
  known: readonly string[],
  pointer: string,
  what: string,
): InputFault[] {
  return names.flatMap((name, index) => unknownName(name, known, `${pointer}/${index}`, what));
}

/** The launch parameters by name, as far as they are objects: whether their schemas hold is judged elsewhere. */
export function parametersOf({ version }: Manifest): Record<string, { type?: unknown }> {
  const properties = version.parameters?.['properties'];
  if (typeof properties !== 'object' || properties === null) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, (schema ?? {}) as { type?: unknown }]),
  );
}
