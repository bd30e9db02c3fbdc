import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type Dockerode from 'dockerode';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { placementFaults } from '../../functions/nodes/placeable.ts';
import type { Config } from '../config/config.ts';
import { keyFile } from '../platform/node-key.ts';
import type { createQueueAccess } from '../queue/queue-access.ts';
import type { Diagnosis } from './doctor.ts';
import { readEngine, readInventory } from './inventory.ts';
import type { RunTool } from './run-tool.ts';

export interface Check {
  name: string;
  look: () => Promise<Omit<Diagnosis, 'name'>> | Omit<Diagnosis, 'name'>;
}

type Found = Omit<Diagnosis, 'name'>;

const API_MIN = 1.41;
/** The first whose default seccomp profile refuses io_uring. */
const ENGINE_MAJOR_WANTED = 25;
const DISK_FREE_GIB_MIN = 10;
/** The platform accepts assertions of a clock that is wrong by at most 30 seconds. */
const SKEW_SECONDS_MAX = 20;
const GIB = 1024 ** 3;

const ok = (detail: string): Found => ({ status: 'ok', detail });
const failed = (detail: string, advice: string): Found => ({ status: 'failed', detail, advice });
const warning = (detail: string, advice: string): Found => ({ status: 'warning', detail, advice });

/** What can be found out on this machine alone. */
export function localChecks(docker: Dockerode, stateDir: string, tool: RunTool): Check[] {
  return [
    { name: 'engine', look: () => checkEngine(docker) },
    { name: 'cgroups', look: () => checkLimits(docker) },
    { name: 'nftables', look: () => checkNft(tool) },
    { name: 'disk', look: () => checkDisk(docker, stateDir) },
    { name: 'key', look: () => checkKey(stateDir) },
    { name: 'toolkit', look: () => checkToolkit(docker, tool) },
  ];
}

/** What the platform has to say to. */
export function platformChecks(
  { url }: Pick<Config, 'url'>,
  access: ReturnType<typeof createQueueAccess>,
  now: () => Date,
): Check[] {
  return [
    { name: 'clock', look: () => checkClock(url, now) },
    { name: 'queue', look: () => checkQueue(access) },
  ];
}

async function checkEngine(docker: Dockerode): Promise<Found> {
  const engine = await readEngine(docker);
  if (!engine)
    return failed(
      'The Docker engine does not answer on its socket.',
      'Start it: systemctl enable --now docker.',
    );
  const { version, api_version } = engine.engine;
  if (versionNumber(api_version) < API_MIN)
    return failed(
      `Docker ${version} speaks version ${api_version} of its API; ${API_MIN} is needed.`,
      'Update Docker to 20.10 or later.',
    );
  if (Number.parseInt(version, 10) < ENGINE_MAJOR_WANTED)
    return warning(
      `Docker ${version} lets containers make some calls that later versions refuse, such as io_uring.`,
      `Update Docker to ${ENGINE_MAJOR_WANTED} or later.`,
    );
  return ok(`Docker ${version}`);
}

/** `1.9` is older than `1.41`. */
function versionNumber(text: string): number {
  const [major = '0', minor = '0'] = text.split('.');
  return Number(`${major}.${minor.padStart(2, '0')}`);
}

async function checkLimits(docker: Dockerode): Promise<Found> {
  const engine = await readEngine(docker);
  if (!engine) return failed('The engine could not be asked.', 'See the check "engine".');
  const { missingLimits, cgroupVersion } = engine;
  if (missingLimits.length > 0)
    return failed(
      `Containers cannot be limited in ${missingLimits.join(', ')}.`,
      'Boot with the cgroup controllers memory, pids and cpu (on Debian: cgroup_enable=memory).',
    );
  return ok(`version ${cgroupVersion}`);
}

async function checkNft(tool: RunTool): Promise<Found> {
  if ((await tool('nft', ['list', 'tables'])) !== undefined) return ok('nft can be used');
  return failed(
    'nft cannot be used, so containers cannot be kept apart; no launch is taken.',
    'Install nftables, and run the agent as root or with CAP_NET_ADMIN.',
  );
}

async function checkDisk(docker: Dockerode, stateDir: string): Promise<Found> {
  const rootDir = (await readEngine(docker))?.rootDir;
  const path = rootDir !== undefined && existsSync(rootDir) ? rootDir : stateDir;
  const { bavail, bsize } = await statfs(path);
  const freeGib = Math.floor((bavail * bsize) / GIB);
  const detail = `${freeGib} GiB are free at ${path}`;
  return freeGib < DISK_FREE_GIB_MIN
    ? warning(
        `${detail}.`,
        `Images need room: free some, or use a larger disk (at least ${DISK_FREE_GIB_MIN} GiB).`,
      )
    : ok(detail);
}

function checkKey(stateDir: string): Found {
  const path = keyFile(stateDir);
  if (!existsSync(path)) return failed(`${path} does not exist.`, 'Join again: gpuaas-agent join.');
  const { mode, uid } = statSync(path);
  const others = mode % 0o100;
  if (others !== 0 || uid !== process.getuid?.())
    return failed(
      `Others than the agent's user can read ${path}.`,
      `chown and chmod 600 it; if others had access, remove the node and join anew.`,
    );
  return ok('only the agent can read it');
}

/** By the very rules of the platform's placement. */
async function checkToolkit(docker: Dockerode, tool: RunTool): Promise<Found> {
  const inventory = await readInventory(docker, tool);
  const faults = placementFaults({ status: 'ready', placement: 'open', inventory });
  // What there is to do about an engine that is missing, its own check says.
  const found = faults.filter(({ code }) => code !== 'engine.missing');
  if (found.length === 0) return ok(`toolkit ${inventory.toolkit_version ?? 'not needed'}`);
  return failed(
    found.map(({ detail }) => detail).join(' '),
    'Nothing is placed on this host until then. Install or update nvidia-container-toolkit, then: nvidia-ctk runtime configure --runtime=docker, and restart Docker.',
  );
}

async function checkClock(url: string, now: () => Date): Promise<Found> {
  const begunMs = now().getTime();
  const response = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  const platformMs = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(platformMs))
    return warning('The platform does not tell the time.', 'Compare the clock by hand.');
  // The platform's time has whole seconds, and was told some time between the question and the answer.
  const middleMs = (begunMs + now().getTime()) / 2;
  const skewSeconds = Math.round((middleMs - platformMs - 500) / 1000);
  if (Math.abs(skewSeconds) > SKEW_SECONDS_MAX)
    return failed(
      `This clock is ${Math.abs(skewSeconds)} seconds ${skewSeconds > 0 ? 'ahead' : 'behind'}; the platform will refuse the node's assertions.`,
      'Let systemd-timesyncd or chrony set the clock.',
    );
  return ok(`${Math.abs(skewSeconds)} seconds off`);
}

async function checkQueue(access: ReturnType<typeof createQueueAccess>): Promise<Found> {
  try {
    const { sqs, url } = await access.get();
    await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
    );
    return ok('tasks can be taken from it');
  } catch (error) {
    return failed(
      `The node's queue cannot be reached: ${(error as Error).message}`,
      'Let HTTPS out to the platform and to SQS; if the node was removed, join anew.',
    );
  }
}
