import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type AgentOptions } from 'node:http';
import { join } from 'node:path';
import type { Journal } from '../journal/journal.ts';
import { REGISTRY_TOKEN_AUDIENCE, REGISTRY_TOKEN_ISSUER, type RegistryTokens } from './registry-tokens.ts';
import { Repositories } from './ecr-repositories.ts';
import { writeWhole } from '../journal/write-whole.ts';
import { superviseChild } from '../engines/child-process.ts';
import { findCommand, findFreePort, freeAddress, isFreePort, statusAt } from '../engines/machine.ts';
import type { EngineAddress } from '../wire/forward.ts';
import { freeDeleted } from './registry-garbage.ts';
import { createRegistryProxy } from './registry-proxy.ts';

/** As many as the kernel takes. */
const SOCKET_PATH_BYTES_MAX = 107;

export interface Registry {
  /** `127.0.0.1:<port>`, what stands before the repository in an image name. */
  host: string;
  url: string;
  port: number;
  /** The registry itself, for those in the engine who have a token for it. */
  inner: EngineAddress;
  storageDir: string;
  pid(): number | undefined;
  stop(): Promise<void>;
}

export interface RegistryOptions {
  dataDir: string;
  journal: Journal;
  tokens: RegistryTokens;
}

export function findRegistry(): string | undefined {
  return findCommand('docker-registry') ?? findCommand('registry');
}

/**
 * A real OCI registry (Debian's docker-registry) with its images in `<dataDir>/registry/storage`. Image names
 * carry the port, so it stays the same from run to run unless somebody else has taken it meanwhile.
 */
export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const command = findRegistry();
  if (command === undefined) throw new Error('There is no docker-registry on this machine.');
  const folder = join(options.dataDir, 'registry');
  const storageDir = join(folder, 'storage');
  mkdirSync(storageDir, { recursive: true });
  chmodSync(folder, 0o700);
  const settings = readSettings(join(folder, 'settings.json'));
  const port = await reusablePort(settings.port);
  writeWhole(join(folder, 'settings.json'), JSON.stringify({ ...settings, port }), { mode: 0o600 });

  const socketPath = join(folder, 'registry.sock');
  const { listen, ...inner } = await innerAddress(socketPath);
  const configFile = join(folder, 'config.yml');
  const config = registryConfig({ ...options, storageDir, listen, uploadSecret: settings.uploadSecret });
  writeFileSync(configFile, config, { mode: 0o600 });
  const child = await superviseChild({
    name: 'registry',
    command,
    args: ['serve', configFile],
    dataDir: options.dataDir,
    // Without a token it tells nobody anything.
    ready: async () => (await statusAt(inner, '/v2/')) === 401,
    readySecondsMax: 15,
    stopSecondsMax: 5,
    orphanSignal: 'TERM',
    prepare: async () => {
      // One that was killed leaves its socket, and the next could not take its place.
      rmSync(socketPath, { force: true });
      await freeDeleted(command, configFile, storageDir);
    },
  });

  const repositories = new Repositories(options.journal);
  const proxy = createRegistryProxy({ registry: inner, tokens: options.tokens, repositories });
  proxy.listen(port, '127.0.0.1');
  await once(proxy, 'listening').catch(async (error: unknown) => {
    await child.stop();
    throw error;
  });
  const host = `127.0.0.1:${port}`;
  return {
    host,
    url: `http://${host}`,
    port,
    inner,
    storageDir,
    pid: () => child.pid(),
    async stop() {
      const closed = once(proxy, 'close');
      proxy.close();
      proxy.closeAllConnections();
      await closed;
      await child.stop();
    },
  };
}

interface Settings {
  port?: number;
  /** Signs the state of a half-done upload, so that it can go on after a restart. */
  uploadSecret: string;
}

function readSettings(file: string): Settings {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Settings;
  return { uploadSecret: randomBytes(32).toString('hex') };
}

async function reusablePort(port: number | undefined): Promise<number> {
  return port !== undefined && (await isFreePort(port)) ? port : findFreePort();
}

function registryConfig(
  options: Pick<RegistryOptions, 'tokens'> & {
    storageDir: string;
    listen: Listen;
    uploadSecret: string;
  },
): string {
  // JSON is YAML, and needs no thought about quoting.
  return JSON.stringify({
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: options.storageDir },
      // No blob descriptor cache: with one, a manifest pushed again after its deletion is not found.
      delete: { enabled: true },
    },
    http: {
      ...options.listen,
      // Clients know the proxy's address, not this one.
      relativeurls: true,
      secret: options.uploadSecret,
    },
    auth: {
      token: {
        // Nobody is sent there: the proxy brings a token along with every request.
        realm: 'http://registry.invalid',
        service: REGISTRY_TOKEN_AUDIENCE,
        issuer: REGISTRY_TOKEN_ISSUER,
        rootcertbundle: options.tokens.key.certificateFile,
      },
    },
  });
}

/** What the registry's configuration says of where it listens. */
type Listen = { net: 'unix' | 'tcp'; addr: string };

/**
 * A socket in a folder that is ours alone. Where its path would be too long for one, a port of this machine: there too
 * the registry asks for a token that only this engine can sign.
 */
async function innerAddress(socketPath: string): Promise<EngineAddress & { listen: Listen }> {
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX) {
    const agent = new Agent({ keepAlive: true, socketPath } as AgentOptions);
    return { url: 'http://registry.invalid', agent, listen: { net: 'unix', addr: socketPath } };
  }
  const { url, port } = await freeAddress();
  return { url, listen: { net: 'tcp', addr: `127.0.0.1:${port}` } };
}
