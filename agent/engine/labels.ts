// What things are called on the engine, and the labels by which they are found again. What does not carry the own node's
// label belongs to somebody else and is never touched.

import { hash } from 'node:crypto';
import type { Container } from '../../functions/tasks/task.ts';
import type { Workload } from './workload.ts';

export const NODE = 'gpuaas.node';
export const WORKLOAD = 'gpuaas.workload';
export const COMPONENT = 'gpuaas.component';
const FENCE = 'gpuaas.fence';
export const PROJECT = 'gpuaas.project';
const ALLOCATION = 'gpuaas.allocation';
export const SPEC = 'gpuaas.spec';
export const VOLUME = 'gpuaas.volume';
export const VOLUME_KIND = 'gpuaas.volume_kind';

/** One name for each component: the engine itself refuses a second container. */
export const containerName = (workloadId: string, component: string): string =>
  `gpuaas-${workloadId}-${component}`;
export const networkName = (workloadId: string): string => `gpuaas-${workloadId}`;
export const volumeName = (volumeId: string): string => `gpuaas-${volumeId}`;

/** The firewall knows the bridges of workloads by this. */
export const BRIDGE_PREFIX = 'gpw';

/** An interface's name has at most 15 characters. Hashed, as ids made in the same moment begin alike. */
export const bridgeName = (workloadId: string, attempt = 1): string =>
  `${BRIDGE_PREFIX}${hash('sha256', attempt === 1 ? workloadId : `${workloadId} ${attempt}`).slice(0, 12)}`;

/** Changes with anything a container is made of. */
export const specOf = (container: Container): string =>
  hash('sha256', JSON.stringify(container)).slice(0, 32);

const workloadLabels = (nodeId: string, workload: Workload): Record<string, string> => ({
  [NODE]: nodeId,
  [WORKLOAD]: workload.id,
  [FENCE]: String(workload.fence),
  [PROJECT]: workload.project_id,
  [ALLOCATION]: workload.allocation_id,
});

export const containerLabels = (
  nodeId: string,
  workload: Workload,
  container: Container,
): Record<string, string> => ({
  ...workloadLabels(nodeId, workload),
  [COMPONENT]: container.name,
  [SPEC]: specOf(container),
  ...(workload.kind === 'compose' && {
    ...composeProject(workload),
    'com.docker.compose.service': container.name,
    'com.docker.compose.container-number': '1',
    'com.docker.compose.oneoff': 'False',
    'com.docker.compose.config-hash': specOf(container),
  }),
});

/** Compose's own labels, so that its tools show a project as one. */
export const networkLabels = (nodeId: string, workload: Workload): Record<string, string> => ({
  ...workloadLabels(nodeId, workload),
  ...(workload.kind === 'compose' && {
    ...composeProject(workload),
    'com.docker.compose.network': 'default',
  }),
});

const composeProject = ({ id }: Workload): Record<string, string> => ({
  'com.docker.compose.project': `gpuaas-${id}`,
});

/** A filter of the engine's lists. */
export const labelled = (...labels: [name: string, value: string][]): { label: string[] } => ({
  label: labels.map(([name, value]) => `${name}=${value}`),
});
