// What keeps a node from taking allocations, whatever they ask for. Pure; placement tells these as its reasons.

import { compareVersions } from '../platform/version-number.ts';
import type { Inventory } from './inventory.ts';
import type { Node } from './node.ts';

export interface PlacementFault {
  code: string;
  detail: string;
}

/** Ways out of a container, by the first version of NVIDIA's container toolkit without them. */
const TOOLKIT_ESCAPES = [
  { fixedIn: '1.16.2', cve: 'CVE-2024-0132' },
  { fixedIn: '1.17.4', cve: 'CVE-2025-23359' },
  { fixedIn: '1.17.8', cve: 'CVE-2025-23266' },
] as const;

export function placementFaults(
  node: Pick<Node, 'status' | 'placement' | 'placement_reason' | 'inventory'>,
): PlacementFault[] {
  return [...faultsOfState(node), ...(node.inventory ? faultsOfHost(node.inventory) : [])];
}

function faultsOfState({
  status,
  placement,
  placement_reason: reason,
}: Pick<Node, 'status' | 'placement' | 'placement_reason'>): PlacementFault[] {
  const why = reason === undefined ? '' : `: ${reason}`;
  return [
    ...(status === 'ready' ? [] : [{ code: 'node.not_ready', detail: `The node is ${status}.` }]),
    ...(placement === 'open'
      ? []
      : [
          {
            code: placement === 'cordoned' ? 'node.cordoned' : 'node.draining',
            detail: `The node is ${placement}${why}`.replace(/([^.])$/, '$1.'),
          },
        ]),
  ];
}

function faultsOfHost({ engine, toolkit_version, gpus }: Inventory): PlacementFault[] {
  const hasNvidia = gpus.some(({ vendor }) => vendor === 'nvidia');
  return [
    ...(engine ? [] : [{ code: 'engine.missing', detail: 'The node has no container engine.' }]),
    ...(engine && hasNvidia && !engine.nvidia_runtime
      ? [{ code: 'toolkit.missing', detail: 'The container engine has no runtime for NVIDIA GPUs.' }]
      : []),
    ...(toolkit_version === undefined ? [] : faultsOfToolkit(toolkit_version)),
  ];
}

function faultsOfToolkit(text: string): PlacementFault[] {
  const version = readVersion(text);
  if (version === undefined) {
    const detail = 'The version of the NVIDIA Container Toolkit cannot be read.';
    return [{ code: 'toolkit.vulnerable', detail }];
  }
  const escapes = TOOLKIT_ESCAPES.filter(({ fixedIn }) => compareVersions(version, fixedIn) < 0);
  if (escapes.length === 0) return [];
  const cves = escapes.map(({ cve }) => cve).join(', ');
  const [last] = escapes.slice(-1);
  const detail = `The NVIDIA Container Toolkit ${version} has ${cves}; install ${last?.fixedIn} or newer.`;
  return [{ code: 'toolkit.vulnerable', detail }];
}

/** Packages add a revision of their own, and write a release candidate with a tilde: 1.17.8~rc.1-1. */
function readVersion(text: string): string | undefined {
  const [, version, candidate] = /^v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?:[~-](rc\.?\d{0,9}))?/.exec(text) ?? [];
  if (version === undefined) return undefined;
  return candidate === undefined ? version : `${version}-${candidate}`;
}
