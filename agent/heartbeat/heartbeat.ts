// Tells the platform once a minute that this host is there, and of what it says only what has changed.

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Heartbeat, HeartbeatReply } from '../../functions/nodes/agent-api.ts';
import { backOffMs, pause } from '../platform/back-off.ts';
import { nodePath } from '../platform/paths.ts';
import type { AskPlatform } from '../platform/platform-client.ts';
import { PlatformError } from '../platform/platform-error.ts';
import type { Log } from '../tasks/performer.ts';
import { agentVersion } from '../config/version.ts';

export type Vitals = Pick<Heartbeat, 'workloads' | 'disk_free_gib' | 'memory_free_mib' | 'load' | 'problems'>;

export interface Heartbeats {
  nodeId: string;
  ask: AskPlatform;
  seconds: number;
  look: () => Promise<Vitals>;
  onAccepted: () => void;
  /** The platform hears of this host again after some heartbeats were not accepted. */
  onReturn: () => void;
  log: Log;
  now: () => Date;
}

/** A later run has spoken with this node's key: this one has no business here any more. */
export class Superseded extends Error {}

/** Until the signal is aborted. Rejects with Superseded, and with nothing else. */
export async function sendHeartbeats(parts: Heartbeats, signal: AbortSignal): Promise<void> {
  const { nodeId, ask, look, onAccepted, onReturn, log, now } = parts;
  const run = { run_id: randomUUID(), run_started_at: now().toISOString(), agent_version: agentVersion };
  let seconds = parts.seconds;
  let told: Vitals = {};
  let failures = 0;
  for (let sequence = 1; !signal.aborted; sequence++) {
    try {
      const vitals = await look();
      const body: Heartbeat = { ...run, sequence, ...changesOf(told, vitals) };
      const path = nodePath(nodeId, '/heartbeat');
      const reply = await ask({ method: 'POST', path, body, attempts: 1, signal }, HeartbeatReply);
      seconds = reply.heartbeat_seconds;
      told = vitals;
      if (failures > 0) onReturn();
      failures = 0;
      onAccepted();
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof PlatformError && error.code === 'node.key_cloned')
        throw new Superseded(
          'Another agent has spoken with the key of this node since this one started. If that was not you, remove the node and join anew: somebody has a copy of the key.',
        );
      failures++;
      log('warn', 'A heartbeat was not accepted.', { error, failures });
    }
    await pause(failures > 0 ? Math.min(backOffMs(failures + 1), seconds * 1000) : seconds * 1000, signal);
  }
}

function changesOf(told: Vitals, vitals: Vitals): Vitals {
  return Object.fromEntries(
    Object.entries(vitals).filter(([name, value]) => !isDeepStrictEqual(told[name as keyof Vitals], value)),
  );
}
