// How versions are written, and which of two is the newer. Semantic versions, and dotted numbers such as 24.05.0.

import * as v from 'valibot';
import { type Branded, branded } from './ids.ts';

export type VersionNumber = Branded<'VersionNumber'>;

/** Numbers of at most nine digits, so that they compare as text of one width; then, as in semver §9 and §10. */
export const VersionNumber = branded<VersionNumber>(
  v.pipe(
    v.string(),
    v.regex(
      /^\d{1,9}(\.\d{1,9}){0,3}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/,
      'A semantic version or dotted numbers',
    ),
    v.maxLength(64),
  ),
);

const PARTS = 4;
const WIDTH = 9;

/**
 * Text that sorts as the versions do (semver §11), and is the same for two spellings of one: 24.5.0 and 24.05.0
 * are not two versions, and build metadata does not tell versions apart.
 */
export function versionSortKey(version: VersionNumber): string {
  const [comparable = ''] = version.split('+');
  const dash = comparable.indexOf('-');
  const numbers = (dash < 0 ? comparable : comparable.slice(0, dash)).split('.');
  const padded = Array.from({ length: PARTS }, (_, index) => (numbers[index] ?? '0').padStart(WIDTH, '0'));
  // A release comes after its pre-releases: `~` sorts after everything a pre-release may be written with.
  const pre =
    dash < 0
      ? '~'
      : comparable
          .slice(dash + 1)
          .split('.')
          .map(sortableIdentifier)
          .join(' ');
  return `${padded.join('.')}-${pre}`;
}

/**
 * semver §11.4: numbers before words, numbers by value; and fewer identifiers before more, as blanks sort first. How
 * many digits a number has stands before it, so that longer ones sort later.
 */
function sortableIdentifier(identifier: string): string {
  if (!/^\d+$/.test(identifier)) return `1${identifier}`;
  const digits = identifier.replace(/^0+(?=\d)/, '');
  return `0${String(digits.length).padStart(2, '0')}${digits}`;
}

export function compareVersions(a: VersionNumber, b: VersionNumber): number {
  const [left, right] = [versionSortKey(a), versionSortKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
