import { createHash, createHmac, randomBytes } from 'node:crypto';
import { ACCOUNT, AwsError, REGION, type PolicyDocument, type Principal } from '../wire/aws.ts';
import { deriveKey, seal, unseal } from '../journal/seal.ts';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}

interface SealedSession {
  roleArn: string;
  sessionName: string;
  sessionPolicy?: PolicyDocument;
  expiresAtMs?: number;
}

interface Opened {
  session: SealedSession;
  secretAccessKey: string;
}

const OPENED_MAX = 1_000;

/**
 * Who may sign requests. Nothing is stored: a session travels sealed in its own token and every secret key
 * is derived from its id, so credentials handed out before a restart are still good after it.
 */
export class Principals {
  #sealingKey: Buffer;
  #secretsKey: Buffer;
  #operator: AwsCredentials;
  #endpoint: () => string;
  #opened = new Map<string, Opened>();

  constructor(secret: Buffer, endpoint: () => string) {
    this.#sealingKey = deriveKey(secret, 'session tokens');
    this.#secretsKey = deriveKey(secret, 'secret access keys');
    this.#endpoint = endpoint;
    const operatorKeyId = `AKIA${keyIdSuffix(createHmac('sha256', this.#secretsKey).update('operator').digest())}`;
    this.#operator = { accessKeyId: operatorKeyId, secretAccessKey: this.#secretOf(operatorKeyId) };
  }

  operator(): AwsCredentials {
    return { ...this.#operator };
  }

  session(
    roleArn: string,
    sessionName: string,
    options: { sessionPolicy?: PolicyDocument; expiresAt?: Date } = {},
  ): AwsCredentials {
    const { sessionPolicy, expiresAt } = options;
    const session: SealedSession = { roleArn, sessionName, sessionPolicy, expiresAtMs: expiresAt?.getTime() };
    const accessKeyId = `ASIA${keyIdSuffix(randomBytes(16))}`;
    return {
      accessKeyId,
      secretAccessKey: this.#secretOf(accessKeyId),
      sessionToken: seal(this.#sealingKey, Buffer.from(JSON.stringify(session)), accessKeyId).toString(
        'base64',
      ),
      ...(expiresAt && { expiration: expiresAt }),
    };
  }

  /** What an SDK client inside the engine needs to act for a role, and with no more than its rights. */
  clientConfig(
    roleArn: string,
    sessionName: string,
  ): { endpoint: string; region: string; credentials: AwsCredentials; maxAttempts: number } {
    const credentials = this.session(roleArn, sessionName);
    return { endpoint: this.#endpoint(), region: REGION, credentials, maxAttempts: 3 };
  }

  find(
    accessKeyId: string,
    sessionToken: string | undefined,
  ): { secretAccessKey: string; principal: Principal } | undefined {
    if (sessionToken === undefined) {
      if (accessKeyId !== this.#operator.accessKeyId) return undefined;
      const arn = `arn:aws:iam::${ACCOUNT}:user/operator`;
      return { secretAccessKey: this.#operator.secretAccessKey, principal: { kind: 'operator', arn } };
    }
    const opened = this.#open(accessKeyId, sessionToken);
    if (opened === undefined) return undefined;
    const { session, secretAccessKey } = opened;
    if (session.expiresAtMs !== undefined && session.expiresAtMs <= Date.now()) {
      throw new AwsError('ExpiredTokenException', 'The security token included in the request is expired');
    }
    const { roleArn, sessionName, sessionPolicy } = session;
    const arn = sessionArn(roleArn, sessionName);
    return {
      secretAccessKey,
      principal: { kind: 'role', arn, roleArn, sessionName, ...(sessionPolicy && { sessionPolicy }) },
    };
  }

  /** A worker signs every request with the same token: it is opened once. */
  #open(accessKeyId: string, sessionToken: string): Opened | undefined {
    const name = `${accessKeyId} ${sessionToken}`;
    const known = this.#opened.get(name);
    if (known) return known;
    const plain = unseal(this.#sealingKey, Buffer.from(sessionToken, 'base64'), accessKeyId);
    if (plain === undefined) return undefined;
    const session = JSON.parse(plain.toString('utf8')) as SealedSession;
    const opened = { session, secretAccessKey: this.#secretOf(accessKeyId) };
    if (this.#opened.size >= OPENED_MAX) this.#opened.clear();
    this.#opened.set(name, opened);
    return opened;
  }

  #secretOf(accessKeyId: string): string {
    return createHmac('sha256', this.#secretsKey).update(`key ${accessKeyId}`).digest('base64').slice(0, 40);
  }
}

/** A session's ARN names the role without its path. */
export function sessionArn(roleArn: string, sessionName: string): string {
  const roleName = roleArn.slice(roleArn.lastIndexOf('/') + 1);
  return `arn:aws:sts::${ACCOUNT}:assumed-role/${roleName}/${sessionName}`;
}

/** The stable id AWS gives a role; sessions are told apart as `<role id>:<session name>`. */
export function roleId(roleArn: string): string {
  return `AROA${keyIdSuffix(createHash('sha256').update(roleArn).digest())}`;
}

/** How a caller is told apart where AWS names no ARN: `aws:userid`, GetCallerIdentity, authorizer contexts. */
export function userId(principal: Principal): string {
  if (principal.kind === 'operator') return 'AIDAOPERATOR';
  return `${roleId(principal.roleArn)}:${principal.sessionName}`;
}

function keyIdSuffix(bytes: Buffer): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return Array.from(bytes.subarray(0, 16), (byte) => alphabet[byte % 32]).join('');
}
