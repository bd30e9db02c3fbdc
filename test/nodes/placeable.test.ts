import { describe, expect, test } from 'vitest';
import type { Node } from '../../functions/nodes/node.ts';
import { placementFaults } from '../../functions/nodes/placeable.ts';
import { gpuInventory, sampleInventory } from './inventories.ts';

const codes = (more: Partial<Node>): string[] =>
  placementFaults({ status: 'ready', placement: 'open', inventory: sampleInventory(), ...more }).map(
    ({ code }) => code,
  );

describe('a node', () => {
  test.each<[string, Partial<Node>, string[]]>([
    ['is placeable when it is ready and open', {}, []],
    ['is placeable with GPUs and a toolkit without escapes', { inventory: gpuInventory() }, []],
    ['is not before its host has joined', { status: 'pending', inventory: undefined }, ['node.not_ready']],
    ['is not while it is suspect', { status: 'suspect' }, ['node.not_ready']],
    ['is not when it is lost', { status: 'lost' }, ['node.not_ready']],
    ['is not while it is cordoned', { placement: 'cordoned' }, ['node.cordoned']],
    ['is not while it is drained', { placement: 'draining' }, ['node.draining']],
    ['tells every reason', { status: 'lost', placement: 'cordoned' }, ['node.not_ready', 'node.cordoned']],
    ['is not without an engine', { inventory: sampleInventory({ engine: undefined }) }, ['engine.missing']],
    [
      'is not with GPUs that its engine cannot give',
      { inventory: gpuInventory({ engine: sampleInventory().engine, toolkit_version: undefined }) },
      ['toolkit.missing'],
    ],
  ])('%s', (_, more, expected) => {
    expect(codes(more)).toEqual(expected);
  });

  test.each<[string, string[]]>([
    ['1.16.1', ['CVE-2024-0132', 'CVE-2025-23359', 'CVE-2025-23266']],
    ['v1.16.2', ['CVE-2025-23359', 'CVE-2025-23266']],
    ['1.17.3-1', ['CVE-2025-23359', 'CVE-2025-23266']],
    ['1.17.4', ['CVE-2025-23266']],
    ['1.17.7', ['CVE-2025-23266']],
    ['1.17.8~rc.1-1', ['CVE-2025-23266']],
    ['1.17.8-rc.2', ['CVE-2025-23266']],
    ['1.9.0', ['CVE-2024-0132', 'CVE-2025-23359', 'CVE-2025-23266']],
  ])('with the toolkit %s has %j', (toolkit_version, cves) => {
    const [fault, ...others] = placementFaults({
      status: 'ready',
      placement: 'open',
      inventory: gpuInventory({ toolkit_version }),
    });
    expect(others).toEqual([]);
    expect(fault?.code).toBe('toolkit.vulnerable');
    expect(fault?.detail.match(/CVE-\d+-\d+/g)).toEqual(cves);
  });

  test.each(['1.17.8', '1.17.8-1', '1.18.0', 'v2.0.0'])('with the toolkit %s has no escape', (version) => {
    expect(codes({ inventory: gpuInventory({ toolkit_version: version }) })).toEqual([]);
  });

  test.each(['', 'unknown', '1.17', 'NVIDIA 1.17.8'])(
    'with a toolkit that tells %j is refused',
    (version) => {
      expect(codes({ inventory: gpuInventory({ toolkit_version: version }) })).toEqual([
        'toolkit.vulnerable',
      ]);
    },
  );

  test('tells why somebody has cordoned it', () => {
    const [fault] = placementFaults({ status: 'ready', placement: 'cordoned', placement_reason: 'A fan' });
    expect(fault).toEqual({ code: 'node.cordoned', detail: 'The node is cordoned: A fan.' });
  });
});
