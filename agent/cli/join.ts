import { readFileSync } from 'node:fs';
import Dockerode from 'dockerode';
import * as v from 'valibot';
import { NodeId } from '../../functions/platform/ids.ts';
import { OneTimeToken } from '../../functions/platform/name.ts';
import { Config, PlatformUrl } from '../config/config.ts';
import { ensureStateDir, hasJoined, readConfig, writeConfig } from '../config/config-file.ts';
import { readInventory } from '../host/inventory.ts';
import { enrol } from '../platform/enrol.ts';
import { ensureNodeKey } from '../platform/node-key.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { CliError, type Streams } from './streams.ts';

export interface JoinOptions {
  url: string;
  node: string;
  token?: string;
  tokenFile?: string;
  dockerSocket?: string;
  again?: boolean;
}

const Join = v.object({ url: PlatformUrl, node: NodeId, token: OneTimeToken });

const EXPECTED = {
  url: '--url: expected the https:// address of the platform (http:// only for this machine itself).',
  node: "--node: expected the node's id, as the platform told it.",
  token: '--token: expected a join token of 43 characters; get one where the node was created.',
} as const;

const JOIN_TOKEN_VARIABLE = 'GPUAAS_JOIN_TOKEN';

/** Twice is once: a host that has joined stays what it is. */
export async function join(stateDir: string, options: JoinOptions, { print }: Streams): Promise<void> {
  const { url, node, token } = parseJoin(options);
  if (hasJoined(stateDir) && !options.again) {
    const { node_id } = readConfig(stateDir);
    if (node_id !== node)
      throw new CliError(
        `This host is the node ${node_id} already. Use another --state-dir, or --again to replace it.`,
      );
    print(`This host is the node ${node_id} already.`);
    return;
  }
  ensureStateDir(stateDir);
  const docker_socket = options.dockerSocket ?? '/var/run/docker.sock';
  const inventory = await readInventory(new Dockerode({ socketPath: docker_socket }));
  const key = ensureNodeKey(stateDir);
  try {
    const enrolled = await enrol({ url, nodeId: node, joinToken: token, key, inventory, now: new Date() });
    writeConfig(stateDir, v.parse(Config, { url, docker_socket, ...enrolled }));
    print(`This host is the node ${enrolled.name} (${node}). Start it: systemctl enable --now gpuaas-agent`);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new CliError(`The platform did not take this host: ${error.message} (${error.code})`);
  }
}

function parseJoin(options: JoinOptions): v.InferOutput<typeof Join> {
  const parsed = v.safeParse(Join, { ...options, token: tokenOf(options) });
  if (parsed.success) return parsed.output;
  const members = new Set(parsed.issues.map(({ path }) => String(path?.[0]?.key) as keyof typeof EXPECTED));
  throw new CliError([...members].map((member) => EXPECTED[member]).join('\n'), 2);
}

/** On the command line others of this machine can read it; where it matters, a file or the environment is used. */
function tokenOf({ token, tokenFile }: JoinOptions): string | undefined {
  if (tokenFile === undefined) return token ?? process.env[JOIN_TOKEN_VARIABLE];
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw new CliError(`--token-file: ${(error as Error).message}`, 2);
  }
}
