import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALLOCATION_STATUSES } from '../../functions/allocations/allocation.ts';
import { PLACEMENT_REASONS } from '../../functions/allocations/placement.ts';
import { VOLUME_STATUSES } from '../../functions/allocations/volume.ts';
import { LIFECYCLE_STATES, TRUST_STATES } from '../../functions/artifacts/artifact.ts';
import { ProjectAppView } from '../../functions/catalog/launchability.ts';
import { STEPS } from '../../functions/promotion/promotion.ts';
import { SUBMISSION_STATUSES } from '../../functions/manifests/submission.ts';
import { NODE_PLACEMENTS, NODE_STATUSES } from '../../functions/nodes/node.ts';
import { platformProblems } from '../../functions/platform/errors.ts';
import { PROBLEMS } from '../../functions/problems.ts';
import { ROOT } from '../../lib/bundle.ts';
import { ofType, synthesizedApp } from '../lib/synthesized.ts';

// What somebody may meet at three in the morning must be in the book.

function read(file: string) {
  const text = readFileSync(join(ROOT, 'docs/runbooks', file), 'utf8');
  return {
    missing: (words: readonly string[]): string[] => words.filter((word) => !text.includes(`\`${word}\``)),
  };
}

/** Of what does not exist there is nothing to tell. */
const codesOf = (subjects: RegExp): string[] =>
  Object.keys(PROBLEMS).filter((code) => subjects.test(code) && !code.endsWith('.unknown'));

describe('the runbook of the catalogue', () => {
  const { missing } = read('catalog.md');

  test('knows every way the catalogue says no', () => {
    expect(missing(codesOf(/^(app|manifest|submission|version|promotion|entitlement)\./))).toEqual([]);
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

describe('the runbook of artifacts', () => {
  const { missing } = read('artifact-lifecycle.md');

  test('knows every way publishing and trust say no', () => {
    expect(missing(codesOf(/^(intent|artifact|registry|store|trust_policy|certificate)\./))).toEqual([]);
  });

  test('knows every state', () => {
    expect(missing([...LIFECYCLE_STATES, ...TRUST_STATES])).toEqual([]);
  });
});

describe('the runbook of nodes', () => {
  const { missing } = read('nodes.md');

  test('knows every way nodes say no', () => {
    expect(missing(codesOf(/^(node|join_token)\./))).toEqual([]);
  });

  test('knows every status and placement', () => {
    expect(missing([...NODE_STATUSES, ...NODE_PLACEMENTS])).toEqual([]);
  });
});

describe('the runbook of allocations', () => {
  const { missing } = read('allocations.md');

  test('knows every way allocations say no', () => {
    expect(missing(codesOf(/^(sku|allocation|volume)\./))).toEqual([]);
  });

  test('knows every status, and every reason why an allocation does not go to a host', () => {
    expect(missing([...ALLOCATION_STATUSES, ...VOLUME_STATUSES, ...PLACEMENT_REASONS])).toEqual([]);
  });
});

describe('the page of errors', () => {
  const text = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');

  test('has a row for everything the kernel refuses, with its status', () => {
    const { 'idempotency.replayed': _neverShown, ...shown } = platformProblems;
    const rows = Object.entries(shown).map(([code, { status }]) => `| ${status}    | \`${code}\``);
    expect(rows.filter((row) => !text.includes(row))).toEqual([]);
  });

  test('has a row for everything the gateway answers by itself', () => {
    const source = readFileSync(join(ROOT, 'lib/local/gateway/http-gateway.ts'), 'utf8');
    const own = [...source.matchAll(/gatewayError\((\d+), '([^']+)'\)/g)];
    expect(own.length).toBeGreaterThan(5);
    const rows = own.map(([, status, message]) => `| ${status}    | \`${message}\``);
    expect(rows.filter((row) => !text.includes(row))).toEqual([]);
  });
});

describe('the runbook of events', () => {
  const { missing } = read('events.md');
  const { platform } = synthesizedApp();

  test('knows every queue in which events and reactions end that failed', () => {
    const queues = ofType(platform, 'AWS::SQS::Queue')
      .map(([id]) => id.replace(/[0-9A-F]{8}$/, ''))
      .filter((name) => name.endsWith('Failures') && /^(Relay|Reactions|Selftest)/.test(name));
    expect(queues.length).toBeGreaterThan(5);
    expect(missing(queues)).toEqual([]);
  });
});
