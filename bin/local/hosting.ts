// This machine as a host of its own platform.

import { DemoApi } from './demo-api.ts';
import { LocalAgent } from './local-agent.ts';
import { seedAllocation } from './seed-allocation.ts';
import type { Demo, SeedOptions } from './seed-demo.ts';
import { type Host, seedHost } from './seed-host.ts';

export interface HostingOptions extends Pick<SeedOptions, 'dataDir' | 'tokenOf' | 'say' | 'stop'> {
  api_url: string;
  docker_host: string | null;
  registry: string | null;
}

/** Why it is none; nothing, if it can be one. */
export function whyHostless(
  isWanted: boolean,
  { docker_host }: Pick<HostingOptions, 'docker_host'>,
  nft: string | undefined,
): string | undefined {
  if (!isWanted) return 'none, as asked for with --no-host';
  if (docker_host === null)
    return 'none: there is no container engine (see above), so nothing can be launched';
  return nft === undefined
    ? 'none: without the nft command (nftables) containers cannot be kept apart, so nothing can be launched'
    : undefined;
}

export async function hostThisMachine(options: HostingOptions): Promise<Host | undefined> {
  const { api_url: apiUrl, docker_host, registry, dataDir, say, stop } = options;
  const agent = new LocalAgent({ apiUrl, dataDir, dockerHost: docker_host ?? '', registry, stop });
  return seedHost({ admin: await apiOf(options, 'admin@example.com'), agent, say, stop });
}

/** What the demo project holds of it. */
export async function seedCapacity(
  options: HostingOptions,
  { project_id: projectId }: Demo,
  host: Host | undefined,
): Promise<Pick<Demo, 'node_id' | 'sku' | 'allocation_id'>> {
  if (!host) return {};
  const { nodeId } = host;
  const admin = await apiOf(options, 'admin@example.com');
  const owner = await apiOf(options, 'owner@example.com');
  const { say, stop } = options;
  return { node_id: nodeId, ...(await seedAllocation({ admin, owner, projectId, nodeId, say, stop })) };
}

export function describeHost({ node_id, sku, allocation_id }: Demo): string {
  if (node_id === undefined) return 'none: this machine could not join (see above)';
  const held =
    allocation_id === undefined ? 'nothing of it is allocated' : `the project holds a ${sku} of it`;
  return `this machine, node ${node_id}; ${held}`;
}

const apiOf = async ({ api_url, tokenOf, stop }: HostingOptions, email: string): Promise<DemoApi> =>
  new DemoApi(api_url, await tokenOf(email), stop);
