import { AssumeRoleCommand } from '@aws-sdk/client-sts';
import { sts } from '../clients.ts';

/** The least STS gives; the policy of a session may end it sooner. */
const SESSION_SECONDS_LEAST = 900;

export interface SessionStatement {
  Effect: 'Allow';
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string>>;
}

export interface Session {
  roleArn: string;
  /** Under this name AWS's own log tells what it did. */
  name: string;
  seconds: number;
  /** What of the role's rights it has; a role that sessions are made of is never used as it is. */
  statements: SessionStatement[];
}

export interface SessionCredentials {
  AccessKeyId: string;
  SecretAccessKey: string;
  SessionToken: string;
  Expiration: Date;
}

/** A session of a role, narrower than the role. Nothing of it is stored: if the answer is lost, so is the session. */
export async function assumeRole({
  roleArn,
  name,
  seconds,
  statements,
}: Session): Promise<SessionCredentials> {
  const { Credentials } = await sts().send(
    new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: name,
      DurationSeconds: Math.max(SESSION_SECONDS_LEAST, seconds),
      Policy: JSON.stringify({ Version: '2012-10-17', Statement: statements }),
    }),
  );
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
    throw new Error('STS returned no credentials.');
  return { AccessKeyId, SecretAccessKey, SessionToken, Expiration };
}

/** What belongs to the same account, in the same partition of AWS, as a role. */
export function arnBeside(roleArn: string, service: string, region: string, resource: string): string {
  const [, partition = '', , , account = ''] = roleArn.split(':');
  return `arn:${partition}:${service}:${region}:${account}:${resource}`;
}
