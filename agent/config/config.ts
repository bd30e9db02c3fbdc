// What the agent is told: by a file that `join` writes, and by the environment, which wins. Pure.

import * as v from 'valibot';
import { Enrolled } from '../../functions/nodes/agent-api.ts';
import { NodeId } from '../../functions/platform/ids.ts';

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** Tokens and secrets travel on it: anything but HTTPS only to this very machine. */
export const PlatformUrl = v.pipe(
  v.string(),
  v.url('Expected the address of the platform'),
  v.check((text) => isSafe(text), 'Expected an https:// address (http:// only for this machine itself)'),
  v.transform((text) => text.replace(/\/+$/, '')),
);

function isSafe(text: string): boolean {
  const url = URL.parse(text);
  return (
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname))
  );
}

const PortRange = v.pipe(
  Enrolled.entries.port_range,
  v.check(({ from, to }) => from <= to, 'Expected the first port before the last'),
);

export const Config = v.object({
  url: PlatformUrl,
  node_id: NodeId,
  name: v.optional(v.string(), ''),
  region: v.string(),
  registry_host: v.string(),
  host_key: Enrolled.entries.host_key,
  heartbeat_seconds: whole(1, 3600),
  port_range: PortRange,
  docker_socket: v.optional(v.string(), '/var/run/docker.sock'),
  /** So many tasks of different subjects at once. */
  tasks_max: v.optional(whole(1, 64), 16),
});
export type Config = v.InferOutput<typeof Config>;

export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** By variable, which member of the configuration it says, and how its text is read. */
const VARIABLES: Record<string, { member: keyof Config; read: (text: string) => unknown }> = {
  GPUAAS_AGENT_URL: { member: 'url', read: String },
  GPUAAS_AGENT_NODE_ID: { member: 'node_id', read: String },
  GPUAAS_AGENT_REGISTRY_HOST: { member: 'registry_host', read: String },
  GPUAAS_AGENT_HEARTBEAT_SECONDS: { member: 'heartbeat_seconds', read: Number },
  GPUAAS_AGENT_PORT_RANGE: { member: 'port_range', read: readRange },
  GPUAAS_AGENT_DOCKER_SOCKET: { member: 'docker_socket', read: String },
  GPUAAS_AGENT_TASKS_MAX: { member: 'tasks_max', read: Number },
};

/** Read elsewhere: where everything is, and what the launcher says. */
export const STATE_DIR_VARIABLE = 'GPUAAS_AGENT_STATE_DIR';
export const LAUNCHER_VARIABLE = 'GPUAAS_AGENT_LAUNCHER';
const KNOWN = new Set([...Object.keys(VARIABLES), STATE_DIR_VARIABLE, LAUNCHER_VARIABLE]);

function readRange(text: string): unknown {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  return from === undefined ? text : { from: Number(from), to: Number(to) };
}

/** Every problem at once, each with where it stands: nobody starts an agent five times to learn of five mistakes. */
export function parseConfig(file: object, environment: Record<string, string | undefined>): Config {
  const unknown = Object.keys(environment)
    .filter((name) => name.startsWith('GPUAAS_AGENT_') && !KNOWN.has(name))
    .map((name) => `${name}: this variable is not known. Known are ${[...KNOWN].sort().join(', ')}.`);
  const said = new Map<string, string>();
  const input: Record<string, unknown> = { ...file };
  for (const [name, { member, read }] of Object.entries(VARIABLES)) {
    const text = environment[name];
    if (text === undefined || text === '') continue;
    input[member] = read(text);
    said.set(member, name);
  }
  const parsed = v.safeParse(Config, input);
  const problems = [...unknown, ...(parsed.issues ?? []).map((issue) => problemOf(issue, said))];
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return parsed.output;
}

function problemOf(issue: v.BaseIssue<unknown>, said: Map<string, string>): string {
  const path = (issue.path ?? []).map(({ key }) => String(key));
  const where = said.get(path[0] ?? '') ?? `${path.join('.')} in config.json`;
  return `${where}: ${issue.message}.`;
}
