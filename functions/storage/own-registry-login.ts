import { GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import { ecr } from '../platform/clients.ts';
import type { RegistryLogin } from './registry-client.ts';

/** A password is renewed while it still works. */
const MARGIN_MS = 5 * 60_000;

let login: (RegistryLogin & { expiresAtMs: number }) | undefined;

/** As the role of this function: its policy decides what may be read. */
export async function logIn(): Promise<RegistryLogin> {
  if (login && login.expiresAtMs - Date.now() > MARGIN_MS) return login;
  const { authorizationData } = await ecr().send(new GetAuthorizationTokenCommand({}));
  const { authorizationToken, proxyEndpoint, expiresAt } = authorizationData?.[0] ?? {};
  if (!authorizationToken || !proxyEndpoint) throw new Error('ECR returned no password.');
  const expiresAtMs = expiresAt?.getTime() ?? 0;
  login = { endpoint: proxyEndpoint, authorization: `Basic ${authorizationToken}`, expiresAtMs };
  return login;
}
