import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';

type Answering = 'keys' | 'an error' | 'nonsense' | 'too much' | 'elsewhere' | 'never';

/** An issuer of people's tokens, whose keys are fetched over HTTP; it can be told to misbehave. */
export async function openTokenIssuer(kind: 'standard' | 'cognito' = 'standard') {
  const alg = kind === 'standard' ? 'ES256' : 'RS256';
  let pair = newPair(alg);
  let kid = `${kind}-1`;
  let answering: Answering = 'keys';
  let fetches = 0;
  const server = createServer((_request, response) => {
    fetches += 1;
    const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
    if (answering === 'never') return;
    if (answering === 'an error') response.writeHead(500).end();
    else if (answering === 'elsewhere') response.writeHead(302, { location: '/keys' }).end();
    else if (answering === 'nonsense') response.writeHead(200).end('<html>');
    else
      response
        .writeHead(200)
        .end(JSON.stringify({ keys: [jwk], more: ' '.repeat(answering === 'too much' ? 100_000 : 0) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const isStandard = kind === 'standard';
  return {
    config: {
      issuer,
      jwks_uri: `${issuer}/jwks`,
      audience: isStandard ? 'urn:gpuaas:api' : 'client-1',
      audience_claim: isStandard ? 'aud' : 'client_id',
      algorithms: [alg],
      typ: isStandard ? 'at+jwt' : null,
      tells_email: true,
    },
    fetches: () => fetches,
    publicKey: (): KeyObject => pair.publicKey,
    privateKey: (): KeyObject => pair.privateKey,
    answer(way: Answering): void {
      answering = way;
    },
    replaceKey(): void {
      pair = newPair(alg);
      kid = `${kid}+`;
    },
    claims: (now: Date): Record<string, unknown> => ({
      iss: issuer,
      sub: 'a-person',
      ...(isStandard ? { aud: 'urn:gpuaas:api' } : { client_id: 'client-1', token_use: 'access' }),
      iat: seconds(now),
      exp: seconds(now) + 600,
    }),
    header: (): Record<string, unknown> & { alg: string } => ({
      alg,
      kid,
      ...(isStandard && { typ: 'at+jwt' }),
    }),
    /** Signed with the issuer's own key, whatever the claims. */
    sign: (
      claims: Record<string, unknown>,
      header: Record<string, unknown> & { alg: string },
    ): Promise<string> => new SignJWT(claims).setProtectedHeader(header).sign(pair.privateKey),
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type TokenIssuer = Awaited<ReturnType<typeof openTokenIssuer>>;

const seconds = (now: Date): number => Math.floor(now.getTime() / 1000);

function newPair(alg: 'ES256' | 'RS256') {
  return alg === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
}
