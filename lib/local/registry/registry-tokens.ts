import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { ACCOUNT, AwsError, REGION, type Principal } from '../wire/aws.ts';
import type { Iam } from '../iam/iam.ts';
import type { AwsCredentials, Principals } from '../iam/principals.ts';
import { openRegistryKey, type RegistryKey } from './registry-key.ts';
import { deriveKey, seal, unseal } from '../journal/seal.ts';
import type { RegistryCall } from './registry-calls.ts';

export const REGISTRY_TOKEN_ISSUER = 'local-ecr';
export const REGISTRY_TOKEN_AUDIENCE = 'local-registry';

/** The only name that `docker login` to ECR knows. */
export const ECR_USER = 'AWS';
/** As long as ECR's own. */
const PASSWORD_SECONDS = 12 * 3600;
/** A token is for one request, which may be the upload of a large layer. */
const TOKEN_SECONDS = 60;

/** Seals the caller's AWS session, not a copy of its rights: it ends with the session, and policies are read afresh. */
interface Password {
  accessKeyId: string;
  sessionToken?: string;
  expiresAtMs: number;
}

/**
 * Two kinds of credentials. ECR hands out a password (GetAuthorizationToken), which clients send with every request;
 * the registry behind wants a signed token, which is made for each request once IAM has allowed it.
 */
export class RegistryTokens {
  readonly key: RegistryKey;
  #sealingKey: Buffer;
  #principals: Principals;
  #iam: Iam;

  constructor(options: { dataDir: string; principals: Principals; iam: Iam }) {
    this.key = openRegistryKey(options.dataDir);
    const secret = this.key.privateKey.export({ type: 'pkcs8', format: 'der' });
    this.#sealingKey = deriveKey(secret, 'ecr passwords');
    this.#principals = options.principals;
    this.#iam = options.iam;
  }

  /** What `docker login --username AWS` takes as the password. */
  passwordFor({ accessKeyId, sessionToken }: Pick<AwsCredentials, 'accessKeyId' | 'sessionToken'>): {
    password: string;
    expiresAt: Date;
  } {
    const expiresAtMs = Date.now() + PASSWORD_SECONDS * 1000;
    const content: Password = { accessKeyId, sessionToken, expiresAtMs };
    const sealed = seal(this.#sealingKey, Buffer.from(JSON.stringify(content)), ECR_USER);
    return { password: sealed.toString('base64url'), expiresAt: new Date(expiresAtMs) };
  }

  /** Who sends a request: `nobody` without a name and password of ECR, `wrong` where ECR never gave the password. */
  whoSends(authorization: string | undefined): Principal | 'nobody' | 'wrong' | 'expired' {
    const [, basic] = /^Basic (.+)$/i.exec(authorization ?? '') ?? [];
    const [user, sealed = ''] = Buffer.from(basic ?? '', 'base64')
      .toString('utf8')
      .split(':');
    if (user !== ECR_USER) return 'nobody';
    const opened = unseal(this.#sealingKey, Buffer.from(sealed, 'base64url'), ECR_USER);
    if (opened === undefined) return 'wrong';
    const { accessKeyId, sessionToken, expiresAtMs } = JSON.parse(opened.toString('utf8')) as Password;
    if (expiresAtMs <= Date.now()) return 'expired';
    try {
      return this.#principals.find(accessKeyId, sessionToken)?.principal ?? 'wrong';
    } catch (error) {
      if (error instanceof AwsError) return 'expired';
      throw error;
    }
  }

  /** Why IAM does not allow the call; nothing when it does. */
  reasonToDeny(principal: Principal, { repository, permissions }: RegistryCall): string | undefined {
    const resource = repositoryArn(repository);
    try {
      for (const action of permissions) this.#iam.authorize(principal, { action, resource });
      return undefined;
    } catch (error) {
      if (error instanceof AwsError) return error.message;
      throw error;
    }
  }

  /** For one request to the registry itself: whoever asks for it has decided that the request is allowed. */
  async authorizationFor(repository: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const token = await new SignJWT({
      access: [{ type: 'repository', name: repository, actions: ['pull', 'push', 'delete'] }],
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: this.key.keyId })
      .setIssuer(REGISTRY_TOKEN_ISSUER)
      .setAudience(REGISTRY_TOKEN_AUDIENCE)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setNotBefore(now - 5)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(this.key.privateKey);
    return `Bearer ${token}`;
  }
}

export function repositoryArn(name: string): string {
  return `arn:aws:ecr:${REGION}:${ACCOUNT}:repository/${name}`;
}
