import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLI_CLIENT_ID } from '../sign-in/callbacks.ts';
import { SignInError } from '../sign-in/sign-in-error.ts';
import { readNamedJson } from './named-file.ts';

export interface IssuerOptions {
  issuer?: string;
  client?: string;
  data: string;
}

/** As it was named, or that of the platform that runs on this machine. */
export function nameIssuer(
  { issuer, client, data }: IssuerOptions,
  { GPUAAS_ISSUER, GPUAAS_CLIENT }: Record<string, string | undefined>,
): { issuer: string; clientId: string } {
  const named = { issuer: issuer ?? GPUAAS_ISSUER, clientId: client ?? GPUAAS_CLIENT };
  if (named.issuer && named.clientId) return { issuer: named.issuer, clientId: named.clientId };
  if (named.issuer || named.clientId) {
    throw new SignInError(
      'usage',
      'The issuer and the client must be given together.',
      'Give --issuer and --client, or set GPUAAS_ISSUER and GPUAAS_CLIENT.',
    );
  }
  const readyFile = join(data, 'ready.json');
  const ready = existsSync(readyFile) ? (readNamedJson(readyFile) as { oidc_issuer?: unknown }) : {};
  if (typeof ready.oidc_issuer === 'string') return { issuer: ready.oidc_issuer, clientId: CLI_CLIENT_ID };
  throw new SignInError(
    'usage',
    `No issuer was named, and no platform runs here (${readyFile}).`,
    'Give --issuer and --client: the deployment tells both in its outputs.',
  );
}
