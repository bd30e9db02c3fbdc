import { setTimeout as wait } from 'node:timers/promises';
import type { Child } from '../../lib/local/engines/child-process.ts';
import type { DemoApi } from './demo-api.ts';
import type { LocalAgent } from './local-agent.ts';

/** How the platform calls this machine. */
const NAME = 'this-machine';
/** Below those from which the engines of this machine choose theirs. */
const PORT_RANGE = { from: 10_000, to: 19_999 };
const NODES = '/api/v1/admin/nodes';
const HEARD_SECONDS_MAX = 20;
const POLL_MS = 100;

export interface Host {
  nodeId: string;
  /** Ends the agent. What it runs goes on until the container engine stops. */
  stop(): Promise<void>;
}

export interface HostOptions {
  admin: DemoApi;
  agent: LocalAgent;
  say: (part: string, message: string) => void;
  stop?: AbortSignal;
}

interface Node {
  id: string;
  name: string;
  status: string;
  /** Enrolling counts as one, without a run. */
  last_heartbeat?: { at: string; run_started_at?: string };
}

interface Invited extends Node {
  join_token: string;
}

/**
 * Makes this machine a host, the way of every host: a platform admin creates the node, the agent joins with the token and
 * is heard of. At the next start it is the same node. The platform starts without a host too, and says what is in the way.
 */
export async function seedHost(options: HostOptions): Promise<Host | undefined> {
  const { agent, say, stop } = options;
  let child: Child | undefined;
  try {
    await agent.download();
    const nodeId = await joinOnce(options);
    const begun = new Date();
    child = await agent.run();
    await heardOf(options, nodeId, begun);
    const running = child;
    return { nodeId, stop: () => running.stop() };
  } catch (error) {
    await child?.stop();
    if (stop?.aborted) throw error;
    say('host', `this machine is not a host yet; the next start tries again. ${(error as Error).message}`);
    return undefined;
  }
}

async function joinOnce({ admin, agent }: HostOptions): Promise<string> {
  const joined = agent.nodeId();
  const known = joined === undefined ? undefined : await admin.find<Node>(`${NODES}/${joined}`);
  if (known && known.status !== 'removed') return known.id;
  agent.forget();
  const { id, join_token } = await invite(admin);
  await agent.join(id, join_token);
  return id;
}

/** A node that was created by a start which ended before it was joined is taken up. */
async function invite(admin: DemoApi): Promise<Invited> {
  const { items } = await admin.send<{ items: Node[] }>('GET', `${NODES}?status=pending`);
  const pending = items.find(({ name }) => name === NAME);
  return pending
    ? admin.send<Invited>('POST', `${NODES}/${pending.id}/join-token`, {})
    : admin.send<Invited>('POST', NODES, { name: NAME, port_range: PORT_RANGE });
}

async function heardOf({ admin, stop }: HostOptions, nodeId: string, since: Date): Promise<void> {
  const deadline = Date.now() + HEARD_SECONDS_MAX * 1000;
  while (Date.now() < deadline) {
    const node = await admin.find<Node>(`${NODES}/${nodeId}`);
    const runStarted = Date.parse(node?.last_heartbeat?.run_started_at ?? '');
    if (node?.status === 'ready' && runStarted >= since.getTime()) return;
    await wait(POLL_MS, undefined, { ...(stop && { signal: stop }) });
  }
  throw new Error(`Its agent was not heard of within ${HEARD_SECONDS_MAX} s: see logs/agent.log.`);
}
