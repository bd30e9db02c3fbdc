// Every workload has a bridge of its own. One static table of the firewall keeps what is on these bridges away from the
// metadata address, from other workloads and from the host itself. It has no rule per workload, so none is left behind.

import { spawn } from 'node:child_process';
import { TaskFailed } from '../tasks/performer.ts';
import { BRIDGE_PREFIX } from './labels.ts';

const TABLE = 'inet gpuaas';
const OURS = `"${BRIDGE_PREFIX}*"`;

/**
 * In front of the engine's own rules. The metadata services of the clouds are link-local, and on IPv6 fd00:ec2::254.
 * `fib … missing`: the address is not on the bridge the packet came from; within one bridge a workload is free.
 */
const RULES = `
add table ${TABLE}
delete table ${TABLE}
table ${TABLE} {
  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    iifname ${OURS} ip daddr 169.254.0.0/16 drop
    iifname ${OURS} ip6 daddr { fd00:ec2::254, fe80::/10 } drop
    iifname ${OURS} oifname ${OURS} fib daddr . iif oif missing drop
    iifname ${OURS} oifname { "docker*", "br-*" } drop
    iifname != ${OURS} oifname ${OURS} ct state { new, invalid } drop
  }
  chain input {
    type filter hook input priority filter - 10; policy accept;
    iifname ${OURS} ct state { established, related } accept
    iifname ${OURS} drop
  }
}
`;

export class Isolation {
  /** As the kernel lists what it was given. */
  #expected: string | undefined;

  /** Somebody may have flushed the firewall since: looked at before each start, made again where it differs. */
  async ensure(): Promise<void> {
    try {
      if (this.#expected !== undefined && (await list()) === this.#expected) return;
      // One transaction: there is no moment without rules.
      await nft(['-f', '-'], RULES);
      this.#expected = await list();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new TaskFailed('isolation_unavailable', `Workloads cannot be kept apart on this host: ${why}`);
    }
  }
}

const list = (): Promise<string> =>
  nft(['list', 'table', ...TABLE.split(' ')]).catch((error: Error) => `none: ${error.message}`);

function nft(args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
    const child = spawn('nft', args, { env: { PATH: path }, timeout: 10_000 });
    let said = '';
    let complaint = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
    child.once('error', (error) => reject(new Error(`nft: ${error.message}`)));
    child.once('close', (status) =>
      status === 0 ? resolve(said) : reject(new Error(`nft: ${complaint.trim().slice(0, 500)}`)),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
