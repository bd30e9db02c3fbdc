import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { compareVersions, VersionNumber } from '../../functions/platform/version-number.ts';

const isVersion = (text: string): boolean => v.is(VersionNumber, text);

describe('a version', () => {
  test.each(['1.4.2', '24.05.0', '1', '2026.11', '1.0.0-alpha.1', '1.0.0-x-y-z.--', '1.0.0+build.5'])(
    'may be %s',
    (text) => expect(isVersion(text)).toBe(true),
  );

  test.each(['', 'latest', 'v1.0.0', '1.', '1..0', '1.0.0-', '1.0.0-a..b', '1.0.0+', '1.2.3.4.5', '1.0 '])(
    'may not be “%s”',
    (text) => expect(isVersion(text)).toBe(false),
  );

  // semver §11 gives the first eight in this order.
  const ASCENDING = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.2.0',
    '1.10.0',
    '24.05.0',
    '24.11.1',
  ];

  test('is newer than those before it, whichever two are compared', () => {
    for (const [i, a] of ASCENDING.entries())
      for (const [j, b] of ASCENDING.entries())
        expect(compareVersions(a, b), `${a} ${b}`).toBe(Math.sign(i - j));
  });

  test('is the same however it is spelled', () => {
    expect(compareVersions('24.05.0', '24.5.0')).toBe(0);
    expect(compareVersions('1.0', '1.0.0')).toBe(0);
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
  });
});
