import { execFile, type ChildProcess } from 'node:child_process';
import { Agent, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from './machine.ts';

const KEEPER = join(import.meta.dirname, 'network-keeper.ts');

/** In a network that nothing else is in, every port is free. */
const PORT = 8000;

/** The keeper's word about a connection; with it comes the socket, unless the engine did not take the call. */
export interface Handed {
  id: number;
  error?: string;
}

/** How a program gets a network of its own, or why it cannot. */
export type NetworkMaker = { words: string[]; ip: string; setpriv: string } | { unavailable: string };

/** Root may make a network; whoever is not may make one inside a user namespace, if the system allows those. */
export async function findNetworkMaker(): Promise<NetworkMaker> {
  const [unshare, ip, setpriv] = [findCommand('unshare'), findCommand('ip'), findCommand('setpriv')];
  if (unshare === undefined || setpriv === undefined)
    return { unavailable: 'there is no unshare or no setpriv command (util-linux) on this machine' };
  if (ip === undefined) return { unavailable: 'there is no ip command (iproute2) on this machine' };
  for (const kind of [['--net'], ['--user', '--map-root-user', '--net']]) {
    const words = [unshare, ...kind, '--'];
    if (await works([...words, ip, 'link', 'set', 'lo', 'up'])) return { words, ip, setpriv };
  }
  return { unavailable: 'the system does not let it have a network of its own' };
}

/**
 * A network in which one engine listens and nobody else is: no other program on this machine can connect to it, not
 * even from a container. A small process in there, the keeper, starts the engine and hands connections to it out to
 * us, open; from then on we talk to the engine itself, and nothing is relayed.
 */
export class PrivateNetwork {
  readonly port = PORT;
  readonly url = `http://127.0.0.1:${PORT}`;
  readonly agent: Agent = new HandedAgent((receive) => this.#ask(receive));
  #maker: Exclude<NetworkMaker, { unavailable: string }>;
  #keeper: ChildProcess | undefined;
  #waiting = new Map<number, Receive>();
  #asked = 0;

  constructor(maker: Exclude<NetworkMaker, { unavailable: string }>) {
    this.#maker = maker;
  }

  /** The command that starts the keeper, and with it the engine. Both end with whoever started them. */
  commandFor(words: string[], signal: 'KILL' | 'TERM'): string[] {
    const { words: unshare, ip, setpriv } = this.#maker;
    const notOrphaned = [setpriv, '--pdeathsig', signal];
    const keeper = [process.execPath, '--disable-warning=ExperimentalWarning', KEEPER, ip, String(PORT)];
    return [...unshare, ...notOrphaned, ...keeper, ...notOrphaned, ...words];
  }

  /** From now on this process hands out the connections. */
  keptBy(keeper: ChildProcess): void {
    this.#keeper = keeper;
    keeper.on('message', ({ id, error }: Handed, socket) => this.#receive(id, error, socket as Socket));
    keeper.once('exit', () => {
      for (const id of this.#waiting.keys()) this.#receive(id, 'it has ended');
    });
  }

  #ask(receive: Receive): void {
    const id = (this.#asked += 1);
    this.#waiting.set(id, receive);
    if (this.#keeper?.connected !== true) return this.#receive(id, 'it is not running');
    this.#keeper.send({ id }, (error) => error && this.#receive(id, error.message));
  }

  #receive(id: number, error: string | undefined, socket?: Socket): void {
    const receive = this.#waiting.get(id);
    this.#waiting.delete(id);
    // Of what comes with an error, only the error is looked at; the type wants both.
    if (socket === undefined) receive?.(new Error(error ?? 'the connection was lost'), undefined as never);
    else if (receive === undefined) socket.destroy();
    else receive(null, socket.setNoDelay(true));
  }
}

type Receive = NonNullable<Parameters<Agent['createConnection']>[1]>;

class HandedAgent extends Agent {
  #ask: (receive: Receive) => void;

  constructor(ask: (receive: Receive) => void) {
    super({ keepAlive: true });
    this.#ask = ask;
  }

  override createConnection(_options: ClientRequestArgs, receive?: Receive): undefined {
    if (receive) this.#ask(receive);
  }
}

async function works([command = '', ...args]: string[]): Promise<boolean> {
  return promisify(execFile)(command, args).then(
    () => true,
    () => false,
  );
}
