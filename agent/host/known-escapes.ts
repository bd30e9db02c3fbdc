// Versions of the NVIDIA container toolkit through which a container gets out. Pure.

import { compareVersions, VersionNumber } from '../../functions/platform/version-number.ts';
import * as v from 'valibot';

const ESCAPES = [
  { cve: 'CVE-2024-0132', fixedIn: '1.16.2' },
  { cve: 'CVE-2025-23266', fixedIn: '1.17.8' },
];

/** Which of them this version has. One that cannot be read has all of them. */
export function knownEscapes(toolkitVersion: string): string[] {
  const version = v.safeParse(VersionNumber, toolkitVersion.replace(/[~].*$/, ''));
  return ESCAPES.filter(
    ({ fixedIn }) => !version.success || compareVersions(version.output, fixedIn) < 0,
  ).map(({ cve }) => cve);
}
