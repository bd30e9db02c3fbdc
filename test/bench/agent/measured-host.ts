import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DemoApi } from '../../../bin/local/demo-api.ts';
import { obtainToken } from '../../../bin/token/obtain-token.ts';
import type { ReadyFile } from '../../e2e/platform-copy.ts';
import { until } from '../../until.ts';
import type { Requested } from './report-requests.ts';

const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** One more node on this machine, whose agent tells of its requests. */
export interface MeasuredHost {
  nodeId: string;
  /** A platform admin's. */
  api: DemoApi;
  agent: ChildProcess & { pid: number };
  /** So far, in order. */
  requests: readonly Requested[];
  /** The first of a kind after so many of all. */
  next: (kind: RegExp, after: number) => Promise<Requested>;
  close(): Promise<void>;
}

export async function openMeasuredHost(ready: ReadyFile): Promise<MeasuredHost> {
  const { api_url, oidc_issuer: issuer, docker_host, aws_credentials_file } = ready;
  const { access_token } = await obtainToken({ issuer, email: 'admin@example.com' });
  const api = new DemoApi(api_url, access_token);
  const node = await api.send<{ id: string; join_token: string }>('POST', '/api/v1/admin/nodes', {
    name: 'measured',
  });
  const stateDir = mkdtempSync(join(tmpdir(), 'gpuaas-measured-'));
  // The very file that the platform's own host runs.
  const program = join(dirname(aws_credentials_file), 'gpuaas-agent.mjs');
  const socket = new URL(docker_host ?? '').pathname;
  const words = [
    'join',
    '--state-dir',
    stateDir,
    '--url',
    api_url,
    '--node',
    node.id,
    '--docker-socket',
    socket,
  ];
  await promisify(execFile)(process.execPath, [...FLAGS, program, ...words], {
    env: { ...process.env, GPUAAS_JOIN_TOKEN: node.join_token },
  });
  const agent = fork(program, ['run', '--state-dir', stateDir], {
    execArgv: [...FLAGS, '--import', join(import.meta.dirname, 'report-requests.ts')],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const requests: Requested[] = [];
  agent.on('message', (told) => requests.push(told as Requested));
  const next = (kind: RegExp, after: number): Promise<Requested> =>
    until(() => requests.slice(after).find((each) => kind.test(each.kind)), String(kind), 120);
  await next(/ReceiveMessage/, 0);
  return {
    nodeId: node.id,
    api,
    agent: agent as ChildProcess & { pid: number },
    requests,
    next,
    async close() {
      agent.kill('SIGTERM');
      await once(agent, 'exit');
      await api.send('DELETE', `/api/v1/admin/nodes/${node.id}`);
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
