import { GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import { assumeRole, arnBeside, type Session, type SessionStatement } from '../platform/auth/assume-role.ts';
import { ecr, ecrAs } from '../platform/clients.ts';

export interface RegistryLogin {
  username: string;
  password: string;
  expiresAt: Date;
}

export interface RegistrySession extends Pick<Session, 'roleArn' | 'name' | 'seconds'> {
  repositories: string[];
  actions: string[];
  /** When it ends, where that is sooner than STS can. */
  endsAt?: string;
}

/** A session that may do this in these repositories and nothing else, and the password ECR gives it. */
export async function logInToRegistry(session: RegistrySession): Promise<RegistryLogin> {
  const statements = statementsOf(session, await ecr().config.region());
  const credentials = await assumeRole({ ...session, statements });
  const { authorizationData } = await ecrAs(credentials).send(new GetAuthorizationTokenCommand({}));
  const login = Buffer.from(authorizationData?.[0]?.authorizationToken ?? '', 'base64').toString('utf8');
  const colon = login.indexOf(':');
  if (colon < 1) throw new Error('ECR returned no password.');
  return {
    username: login.slice(0, colon),
    password: login.slice(colon + 1),
    expiresAt: credentials.Expiration,
  };
}

/** The registry is of the account and partition of the role. */
function statementsOf(
  { roleArn, repositories, actions, endsAt }: RegistrySession,
  region: string,
): SessionStatement[] {
  const allowed = {
    Effect: 'Allow' as const,
    ...(endsAt !== undefined && { Condition: { DateLessThan: { 'aws:CurrentTime': endsAt } } }),
  };
  const arns = repositories.map((name) => arnBeside(roleArn, 'ecr', region, `repository/${name}`));
  return [
    { ...allowed, Action: actions, Resource: arns },
    { ...allowed, Action: 'ecr:GetAuthorizationToken', Resource: '*' },
  ];
}
