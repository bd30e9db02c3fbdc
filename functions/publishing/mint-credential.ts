import { GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import { AssumeRoleCommand } from '@aws-sdk/client-sts';
import { ecr, ecrAs, sts } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';
import type { Intent } from './intent.ts';

/** The least STS gives; the policy of a session ends it sooner. */
const SESSION_SECONDS_LEAST = 900;

/**
 * As ECR's guide to pushing lists it. Many clients ask whether a manifest is there before they put it, so manifests can
 * be read. Layers cannot: that takes ecr:GetDownloadUrlForLayer.
 */
const PUSH = [
  'ecr:BatchGetImage',
  'ecr:BatchCheckLayerAvailability',
  'ecr:InitiateLayerUpload',
  'ecr:UploadLayerPart',
  'ecr:CompleteLayerUpload',
  'ecr:PutImage',
];

export interface Credential {
  username: string;
  password: string;
}

/**
 * A session of the publisher's role, limited to this repository and time, and the password ECR gives it. Nothing of it
 * is stored: if the answer is lost, so is the credential.
 */
export async function mintCredential(intent: Intent): Promise<Credential> {
  const roleArn = environment('PUBLISHER_ROLE_ARN');
  const policy = sessionPolicy(
    intent,
    repositoryArn(intent.repository, roleArn, await ecr().config.region()),
  );
  const { Credentials } = await sts().send(
    new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: `publish-${intent.id}`,
      DurationSeconds: Math.max(SESSION_SECONDS_LEAST, intent.credential_ttl_seconds),
      Policy: JSON.stringify(policy),
    }),
  );
  if (!Credentials) throw new Error('STS returned no credentials.');
  const { authorizationData } = await ecrAs(Credentials).send(new GetAuthorizationTokenCommand({}));
  const login = Buffer.from(authorizationData?.[0]?.authorizationToken ?? '', 'base64').toString('utf8');
  const colon = login.indexOf(':');
  if (colon < 1) throw new Error('ECR returned no password.');
  return { username: login.slice(0, colon), password: login.slice(colon + 1) };
}

function sessionPolicy({ credential_expires_at }: Intent, repositoryArn: string) {
  const Condition = { DateLessThan: { 'aws:CurrentTime': credential_expires_at } };
  const Effect = 'Allow';
  return {
    Version: '2012-10-17',
    Statement: [
      { Effect, Action: PUSH, Resource: repositoryArn, Condition },
      { Effect, Action: 'ecr:GetAuthorizationToken', Resource: '*', Condition },
    ],
  };
}

/** The registry is of the account and partition whose role pushes. */
function repositoryArn(repository: string, roleArn: string, region: string): string {
  const [, partition = '', , , account = ''] = roleArn.split(':');
  return `arn:${partition}:ecr:${region}:${account}:repository/${repository}`;
}
