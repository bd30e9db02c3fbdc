import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignJWT, jwtVerify } from 'jose';
import { ACCOUNT, AwsError, REGION, type AwsRequest, type Principal } from '../wire/aws.ts';
import type { Iam } from '../iam/iam.ts';
import type { Journal } from '../journal/journal.ts';
import type { Principals } from '../iam/principals.ts';
import { openRegistryKey, type RegistryKey } from './registry-key.ts';
import { deriveKey, seal, unseal } from '../journal/seal.ts';
import { Repositories } from './ecr-repositories.ts';

export const REGISTRY_TOKEN_PATH = '/_registry/token';
export const REGISTRY_TOKEN_ISSUER = 'local-ecr';
export const REGISTRY_TOKEN_AUDIENCE = 'local-registry';

/** The only name that `docker login` to ECR knows. */
export const ECR_USER = 'AWS';
/** As long as ECR's own. */
const PASSWORD_SECONDS = 12 * 3600;
/** The least Docker accepts. IAM is asked again for each token. */
const TOKEN_SECONDS = 60;
/** How long after its end the registry still takes a token. */
const GRACE_SECONDS = 60;
const SCOPES_MAX = 20;

export type RegistryAction = 'pull' | 'push' | 'delete';
/** What a token allows: actions by repository name. */
export type RegistryAccess = Map<string, RegistryAction[]>;

/** What AWS wants a caller to be allowed before ECR lets it do the same. */
const PERMISSIONS: Record<RegistryAction, string[]> = {
  pull: ['ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
  push: [
    'ecr:BatchCheckLayerAvailability',
    'ecr:InitiateLayerUpload',
    'ecr:UploadLayerPart',
    'ecr:CompleteLayerUpload',
    'ecr:PutImage',
  ],
  delete: ['ecr:BatchDeleteImage'],
};

/** Seals the caller's AWS session, not a copy of its rights: it ends with the session, and policies are read afresh. */
interface Password {
  accessKeyId: string;
  sessionToken?: string;
  expiresAtMs: number;
}

/**
 * Joins two kinds of credentials. ECR hands out a password for `docker login` (GetAuthorizationToken); the
 * registry wants a signed token that lists what its bearer may do where. The registry sends its clients to
 * `handle` to exchange one for the other, and IAM decides there.
 */
export class RegistryTokens {
  readonly key: RegistryKey;
  #sealingKey: Buffer;
  #principals: Principals;
  #iam: Iam;
  #repositories: Repositories;

  constructor(options: { dataDir: string; journal: Journal; principals: Principals; iam: Iam }) {
    this.key = openRegistryKey(options.dataDir);
    const secret = this.key.privateKey.export({ type: 'pkcs8', format: 'der' });
    this.#sealingKey = deriveKey(secret, 'ecr passwords');
    this.#principals = options.principals;
    this.#iam = options.iam;
    this.#repositories = new Repositories(options.journal);
  }

  /** For the signer of this request: what `docker login --username AWS` takes as the password. */
  passwordFor(request: AwsRequest): { password: string; expiresAt: Date } {
    const accessKeyId = /Credential=([^/]+)\//.exec(request.headers['authorization'] ?? '')?.[1];
    if (accessKeyId === undefined)
      throw new AwsError('MissingAuthenticationTokenException', 'Sign the request.');
    const expiresAtMs = Date.now() + PASSWORD_SECONDS * 1000;
    const content: Password = {
      accessKeyId,
      sessionToken: request.headers['x-amz-security-token'],
      expiresAtMs,
    };
    const sealed = seal(this.#sealingKey, Buffer.from(JSON.stringify(content)), ECR_USER);
    return { password: sealed.toString('base64url'), expiresAt: new Date(expiresAtMs) };
  }

  /** Serves REGISTRY_TOKEN_PATH: https://distribution.github.io/distribution/spec/auth/token/ */
  handle = (request: IncomingMessage, response: ServerResponse): void => {
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    const refuse = (status: number, code: string, message: string, headers?: Record<string, string>) =>
      answer(status, { errors: [{ code, message }] }, headers);

    // Some clients try the OAuth2 form with POST first and fall back to this one when told so.
    if (request.method !== 'GET') return void refuse(405, 'UNSUPPORTED', 'Use GET.', { allow: 'GET' });
    const principal = this.#authenticate(request.headers.authorization);
    if (principal === undefined) {
      const message =
        'Your authorization token is not valid or has expired. Get a new one from ECR and log in again.';
      return void refuse(401, 'UNAUTHORIZED', message, { 'www-authenticate': 'Basic realm="ECR"' });
    }
    const url = new URL(request.url ?? '/', 'http://localhost');
    const scopes = url.searchParams.getAll('scope').flatMap((scope) => scope.split(' '));
    if (scopes.length > SCOPES_MAX)
      return void refuse(400, 'UNSUPPORTED', `At most ${SCOPES_MAX} scopes at once.`);
    this.mint(this.#allowed(principal, requestedAccess(scopes)), principal.arn).then(
      (token) => answer(200, { token, access_token: token, expires_in: TOKEN_SECONDS }),
      () => refuse(500, 'UNKNOWN', 'The token could not be signed.'),
    );
  };

  mint(access: RegistryAccess, subject: string): Promise<string> {
    const claims = [...access].map(([name, actions]) => ({ type: 'repository', name, actions }));
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ access: claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: this.key.keyId })
      .setIssuer(REGISTRY_TOKEN_ISSUER)
      .setAudience(REGISTRY_TOKEN_AUDIENCE)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setNotBefore(now - 5)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(this.key.privateKey);
  }

  /** What a token allows, and whom; nothing when the registry wouldn't take it. */
  async read(
    authorization: string | undefined,
  ): Promise<{ subject: string; access: RegistryAccess } | undefined> {
    const [, token] = /^Bearer (.+)$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) return undefined;
    const checks = {
      issuer: REGISTRY_TOKEN_ISSUER,
      audience: REGISTRY_TOKEN_AUDIENCE,
      algorithms: ['ES256'],
      clockTolerance: GRACE_SECONDS + 1,
    };
    const verified = await jwtVerify<{ access: { name: string; actions: RegistryAction[] }[] }>(
      token,
      this.key.publicKey,
      checks,
    ).catch(() => undefined);
    if (verified === undefined) return undefined;
    const access = new Map(verified.payload.access.map(({ name, actions }) => [name, actions]));
    return { subject: verified.payload.sub ?? '', access };
  }

  #authenticate(authorization: string | undefined): Principal | undefined {
    const [, basic] = /^Basic (.+)$/i.exec(authorization ?? '') ?? [];
    const [user, sealed] = Buffer.from(basic ?? '', 'base64')
      .toString('utf8')
      .split(':');
    if (user !== ECR_USER || sealed === undefined) return undefined;
    const opened = unseal(this.#sealingKey, Buffer.from(sealed, 'base64url'), ECR_USER);
    if (opened === undefined) return undefined;
    const { accessKeyId, sessionToken, expiresAtMs } = JSON.parse(opened.toString('utf8')) as Password;
    if (expiresAtMs <= Date.now()) return undefined;
    return unlessDenied(() => this.#principals.find(accessKeyId, sessionToken)?.principal);
  }

  #allowed(principal: Principal, requested: RegistryAccess): RegistryAccess {
    const allowed: RegistryAccess = new Map();
    for (const [name, actions] of requested) {
      // The registry would create a repository on the first push; ECR doesn't.
      if (this.#repositories.get(name) === undefined) continue;
      const granted = actions.filter((action) => this.#permits(principal, name, action));
      if (granted.length > 0) allowed.set(name, granted);
    }
    return allowed;
  }

  #permits(principal: Principal, repository: string, action: RegistryAction): boolean {
    const resource = repositoryArn(repository);
    const allowed = unlessDenied(() => {
      for (const permission of PERMISSIONS[action])
        this.#iam.authorize(principal, { action: permission, resource });
      return true;
    });
    return allowed === true;
  }
}

function unlessDenied<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof AwsError) return undefined;
    throw error;
  }
}

export function repositoryArn(name: string): string {
  return `arn:aws:ecr:${REGION}:${ACCOUNT}:repository/${name}`;
}

/** `repository:team/app:pull,push`; other types of scope exist and are not served. */
function requestedAccess(scopes: string[]): RegistryAccess {
  const access: RegistryAccess = new Map();
  for (const scope of scopes) {
    const [, name, actions] = /^repository:([^:]+):(.+)$/.exec(scope) ?? [];
    if (name === undefined || actions === undefined) continue;
    const asked = actions
      .split(',')
      .filter((action): action is RegistryAction => Object.hasOwn(PERMISSIONS, action));
    access.set(name, [...new Set([...(access.get(name) ?? []), ...asked])]);
  }
  return access;
}
