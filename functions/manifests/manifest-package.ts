// What one request sends: an app with one version of it, or with several.

import { versionSortKey } from '../platform/version-number.ts';
import type { InputFault } from '../platform/errors.ts';
import { checkValues } from './manifest-bounds.ts';
import { isRecord, nestSpelling } from './manifest-canonical.ts';
import { repeated } from './manifest-faults.ts';
import { PACKAGE_VERSIONS_MAX } from './manifest-schema.ts';
import { readSpelled, refused, type SentVersion, type Spelled } from './manifest.ts';
import { Steps } from './steps.ts';

export interface Package {
  versions: SentVersion[];
  /** Whether they were sent as a list: the answer is one then, too. */
  isList: boolean;
}

/**
 * Every version in canonical form, or everything that is wrong with any of them, where the sender wrote it. They share
 * one budget of steps: a list of versions may not cost more than one of them.
 */
export function readPackage(
  input: unknown,
  registryHosts: readonly string[],
  steps = new Steps(),
): Package | { problems: InputFault[] } {
  const values = checkValues(input);
  if (!values.isBounded) return { problems: values.faults };
  const isList = isRecord(input) && 'versions' in input;
  const spelled = isList ? splitVersions(input) : [nestSpelling(input)];
  if ('problems' in spelled) return refused([...values.faults, ...spelled.problems]);
  const read = spelled.map((each) => readSpelled(each, steps, registryHosts));
  const versions = read.filter((each) => 'manifest' in each);
  const problems = withoutRepeats([
    ...values.faults,
    ...read.flatMap((each) => ('problems' in each ? each.problems : [])),
    // Two ways to write a number are not two versions.
    ...(versions.length === read.length
      ? repeated(
          versions.map(({ manifest }) => versionSortKey(manifest.version.version)),
          '/versions',
          '/version',
        )
      : []),
  ]);
  return problems.length > 0 ? refused(problems) : { versions, isList };
}

/** A manifest for each version, all with the same app; in the flat spelling, what stands beside the list is the app's. */
function splitVersions({
  versions,
  ...rest
}: Record<string, unknown>): Spelled[] | { problems: InputFault[] } {
  if ('version' in rest)
    return { problems: [{ pointer: '/version', detail: 'Expected either version or versions.' }] };
  if (!Array.isArray(versions) || versions.length === 0 || versions.length > PACKAGE_VERSIONS_MAX)
    return {
      problems: [
        { pointer: '/versions', detail: `Expected a list of 1 to ${PACKAGE_VERSIONS_MAX} versions.` },
      ],
    };
  const isNested = 'app' in rest;
  const { schema_version, ...app } = rest;
  const shared = isNested ? rest : { ...(schema_version !== undefined && { schema_version }), app };
  return versions.map((version: unknown, index) => ({
    nested: { ...shared, version },
    pointerOf: (pointer) => {
      const at = pointer.replace(/^\/version(?=\/|$)/, `/versions/${index}`);
      return isNested ? at : at.replace(/^\/app(?=\/|$)/, '');
    },
  }));
}

/** What is wrong with the app is wrong with each version. */
export function withoutRepeats(problems: InputFault[]): InputFault[] {
  const byText = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...byText.values()];
}
