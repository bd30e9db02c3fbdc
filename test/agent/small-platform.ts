// What an agent needs of the platform, over real HTTP: it checks assertions and tokens as the platform does, and answers
// the rest as each test says.

import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { CompactSign, exportJWK, jwtVerify } from 'jose';
import { NODE_TOKEN_PATH } from '../../functions/nodes/agent-api.ts';
import type { Config } from '../../agent/config/config.ts';

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  headers: IncomingMessage['headers'];
}

export interface Answer {
  status?: number;
  body?: object | Uint8Array;
  headers?: Record<string, string>;
}

type Answering = (asked: Asked) => Answer | Promise<Answer>;

export const problem = (status: number, code: string, retryable = false): Answer => ({
  status,
  body: { code, title: code, status, retryable },
});

export type SmallPlatform = Awaited<ReturnType<typeof startSmallPlatform>>;

export async function startSmallPlatform(nodeId: string = randomUUID()) {
  const host = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const node = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const hostKid = 'host-key';
  const answers = new Map<string, Answering>();
  const asked: Asked[] = [];
  const tokens = new Set<string>();
  const jtis = new Set<string>();
  // The node has enrolled; an agent that makes a key of its own enrols with that one.
  const state = { nodeKey: node.publicKey, tokenSeconds: 3600, minted: 0 };

  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '/', 'http://platform');
      const hasBody = Number(request.headers['content-length'] ?? 0) > 0;
      const one: Asked = {
        method: request.method ?? '',
        path: pathname,
        body: hasBody ? await json(request) : undefined,
        headers: request.headers,
      };
      asked.push(one);
      const { status = 200, body = {}, headers = {} } = await answer(one);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body instanceof Uint8Array ? body : JSON.stringify(body));
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(one: Asked): Promise<Answer> {
    if (one.path === NODE_TOKEN_PATH) return mint(one);
    const known = answers.get(`${one.method} ${one.path}`);
    if (!known) return problem(404, 'route.unknown');
    const isPublic = one.path.endsWith('/enrolment') || one.path.startsWith('/api/v1/agent/');
    const token = one.headers.authorization?.replace('Bearer ', '');
    if (!isPublic && !(token && tokens.has(token))) return problem(401, 'auth.invalid');
    return known(one);
  }

  async function mint({ body }: Asked): Promise<Answer> {
    const { assertion } = body as { assertion: string };
    try {
      const { payload, protectedHeader } = await jwtVerify(assertion, state.nodeKey, {
        algorithms: ['ES256'],
        issuer: nodeId,
        subject: nodeId,
        audience: [url, url + NODE_TOKEN_PATH],
        requiredClaims: ['jti', 'exp', 'iat'],
      });
      const { jti = '', exp = 0, iat = 0 } = payload;
      if (protectedHeader.kid !== nodeId || jtis.has(jti) || exp - iat > 300)
        return problem(401, 'auth.assertion_refused');
      jtis.add(jti);
    } catch {
      return problem(401, 'auth.assertion_refused');
    }
    const token = `token-${++state.minted}`;
    tokens.add(token);
    return { body: { access_token: token, token_type: 'Bearer', expires_in: state.tokenSeconds } };
  }

  const { crv, x, y } = await exportJWK(host.publicKey);
  return {
    url,
    nodeId,
    /** With which a test speaks as the node. */
    privateKey: node.privateKey,
    state,
    asked,
    hostKey: { kty: 'EC', crv, x, y, kid: hostKid } as Config['host_key'],
    at: (rest: string) => `/api/v1/nodes/${nodeId}${rest}`,
    on(route: string, answering: Answering) {
      answers.set(route, answering);
    },
    askedFor: (path: string) => asked.filter((one) => one.path === path),
    revokeTokens: () => tokens.clear(),
    signed: (payload: object, typ?: string, key: KeyObject = host.privateKey) =>
      new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'ES256', kid: hostKid, ...(typ && { typ }) })
        .sign(key),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
