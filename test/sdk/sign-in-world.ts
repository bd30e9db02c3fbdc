import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { run } from '../../sdk/cli/run.ts';
import { CLI_CLIENT_ID } from '../../sdk/sign-in/callbacks.ts';
import type { Oidc } from '../local/oidc/oidc-world.ts';
import type { Ending } from './command.ts';

/** A home of its own for what the command keeps, until the test is over. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sign-in-'));
  const before = process.env['GPUAAS_CONFIG_DIR'];
  process.env['GPUAAS_CONFIG_DIR'] = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env['GPUAAS_CONFIG_DIR'];
    else process.env['GPUAAS_CONFIG_DIR'] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export const at = ({ issuer }: Pick<Oidc, 'issuer'>): string[] => [
  '--issuer',
  issuer,
  '--client',
  CLI_CLIENT_ID,
];

export interface SigningIn {
  /** Where the command sends the browser. */
  address: URL;
  /** Where the issuer is to send it back to. */
  callback: string;
  ended: Promise<Ending>;
}

/** `gpuaas login`, as far as the address it asks people to open. */
export async function beginLogin(args: string[]): Promise<SigningIn> {
  const [out, err]: [string[], string[]] = [[], []];
  const { promise: shown, resolve } = Promise.withResolvers<URL>();
  const ended = run(['login', ...args], {
    print: (line) => out.push(`${line}\n`),
    tell: (line) => {
      err.push(`${line}\n`);
      const [, address] = /^(http\S+)$/m.exec(line) ?? [];
      if (address !== undefined) resolve(new URL(address));
    },
    read: async () => '',
  }).then((code): Ending => ({ code, out: out.join(''), err: err.join('') }));
  const early = ended.then(({ err: told }): never => {
    throw new Error(`It ended before it showed an address: ${told}`);
  });
  early.catch(() => undefined);
  const address = await Promise.race([shown, early]);
  return { address, callback: address.searchParams.get('redirect_uri') ?? '', ended };
}

/** What the person does in the browser, up to where they are sent back to. */
export async function answerAs(oidc: Oidc, { address, callback }: SigningIn, form: object): Promise<URL> {
  const browser = oidc.newBrowser();
  const shown = await browser.visit(address.href, callback);
  if ('left' in shown) return shown.left;
  const after = await browser.visit(shown.url, callback, new URLSearchParams(Object.entries(form)));
  if ('left' in after) return after.left;
  throw new Error(`The sign-in ended at a page:\n${after.html}`);
}

/** A sign-in from beginning to end, and the page it ends with. */
export async function signInWithBrowser(
  oidc: Oidc,
  email: string,
  args = at(oidc),
): Promise<Ending & { page: string }> {
  const signingIn = await beginLogin(args);
  const back = await answerAs(oidc, signingIn, { email });
  const page = await (await fetch(back)).text();
  return { ...(await signingIn.ended), page };
}

/** Something that answers instead of an issuer. */
export async function openImpostor(
  answer: (
    url: string,
    origin: string,
  ) => { type?: string; status?: number; body?: unknown; location?: string },
): Promise<string> {
  const server = createServer((request, response) => {
    const { type = 'application/json', status = 200, body, location } = answer(request.url ?? '', origin);
    const headers = { 'content-type': type, connection: 'close', ...(location && { location }) };
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return origin;
}
