import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProjectAppView } from '../../functions/catalog/launchability.ts';
import { STEPS } from '../../functions/catalog/promotion.ts';
import { SUBMISSION_STATUSES } from '../../functions/manifests/submission.ts';
import { PROBLEMS } from '../../functions/platform/errors.ts';
import { ROOT } from '../../lib/bundle.ts';

// What somebody may meet at three in the morning must be in the book.

describe('the runbook of the catalogue', () => {
  const text = readFileSync(join(ROOT, 'docs/runbooks/catalog.md'), 'utf8');
  const missing = (words: readonly string[]): string[] =>
    words.filter((word) => !text.includes(`\`${word}\``));

  test('knows every way the catalogue says no', () => {
    const codes = Object.keys(PROBLEMS).filter((code) =>
      /^(app|manifest|submission|version|promotion|entitlement)\./.test(code),
    );
    // Of what does not exist there is nothing to tell.
    expect(missing(codes.filter((code) => !code.endsWith('.unknown')))).toEqual([]);
  });

  test('knows everything a promotion can wait for', () => {
    expect(missing(STEPS.filter((step) => step !== 'ended'))).toEqual([]);
  });

  test('knows every reason why an app cannot be launched', () => {
    expect(missing(ProjectAppView.entries.reasons.item.entries.code.options)).toEqual([]);
  });

  test('knows every status of a submission', () => {
    expect(missing(SUBMISSION_STATUSES)).toEqual([]);
  });
});
