import { setTimeout } from 'node:timers/promises';
import { browserCommand, openBrowser } from '../sign-in/browser.ts';
import { signInByCode } from '../sign-in/code-flow.ts';
import { signInByDevice } from '../sign-in/device-flow.ts';
import { discover } from '../sign-in/provider.ts';
import { sessionOf } from '../sign-in/session.ts';
import { sessionFolder, writeSession } from '../sign-in/session-file.ts';
import { type IssuerOptions, nameIssuer } from './issuer-options.ts';
import { answer, tell, type Answering, type Streams } from './streams.ts';

export interface LoginOptions extends IssuerOptions, Answering {
  device?: boolean;
}

/** `gpuaas login`. */
export async function login(options: LoginOptions, streams: Streams): Promise<void> {
  const { issuer, clientId } = nameIssuer(options, process.env);
  const provider = await discover(issuer);
  const browser = browserCommand(process.env, process.platform);
  const isByDevice =
    options.device === true ||
    (browser === undefined && provider.device_authorization_endpoint !== undefined);
  const now = new Date();
  const tokens = isByDevice
    ? await signInByDevice(provider, clientId, {
        // Quiet or not: without this nobody could sign in.
        show: (address, code) => streams.tell(`Open ${address} and type the code ${code}`),
        wait: (ms) => setTimeout(ms),
      })
    : await signInByCode(provider, clientId, (address) => {
        streams.tell(`Sign in with a browser on this machine, at\n${address}`);
        if (browser !== undefined) openBrowser(browser, address);
      });
  const session = sessionOf(provider, clientId, tokens, now);
  writeSession(sessionFolder(process.env), session);
  tell(streams, options, `Signed in at ${issuer}. “gpuaas token” prints an access token.`);
  if (options.json === true)
    answer(streams, options, { issuer, client_id: clientId, expires_at: session.expires_at }, []);
}
