import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ECRClient, GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import { ACCOUNT, REGION } from '../../../lib/local/wire/aws.ts';
import { startRegistry, type Registry } from '../../../lib/local/registry/registry.ts';
import { openFrontDoor, type FrontDoorService } from '../../../lib/local/iam/front-door.ts';
import { Iam } from '../../../lib/local/iam/iam.ts';
import { openJournal } from '../../../lib/local/journal/journal.ts';
import { Principals, type AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { RegistryTokens } from '../../../lib/local/registry/registry-tokens.ts';
import { createEcrService } from '../../../lib/local/registry/ecr.ts';

/** ECR as a client meets it: a front door, the registry behind it, and roles with the policies a test gives them. */
export async function openEcrWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'ecr-'));
  const journal = openJournal(dataDir);
  const iam = new Iam();
  const principals = new Principals(randomBytes(32), () => frontDoor.url);
  const tokens = new RegistryTokens({ dataDir, principals, iam });
  const services: FrontDoorService[] = [];
  const frontDoor = await openFrontDoor({
    port: 0,
    principals,
    iam,
    services,
    fallback: (_request, response) => void response.writeHead(404).end(),
    upgrade: (_request, socket) => void socket.destroy(),
  });
  const registry: Registry = await startRegistry({ dataDir, journal, tokens });
  const ecr = createEcrService({ journal, registry, tokens });
  services.push(ecr);

  const client = (credentials: AwsCredentials) =>
    new ECRClient({ endpoint: frontDoor.url, region: REGION, credentials, maxAttempts: 1 });

  return {
    dataDir,
    registry,
    ecr,
    principals,
    tokens,
    url: frontDoor.url,
    operator: client(principals.operator()),
    client,
    /** A session of a role that may do these things to these repositories, and log in. */
    session(
      actions: string[],
      repositories: string[],
      { until, ...options }: { expiresAt?: Date; until?: Date } = {},
    ): AwsCredentials {
      const arn = `arn:aws:iam::${ACCOUNT}:role/${randomBytes(6).toString('hex')}`;
      const resources = repositories.map((name) => `arn:aws:ecr:${REGION}:${ACCOUNT}:repository/${name}`);
      iam.putRole({
        arn,
        trust: { Version: '2012-10-17', Statement: [] },
        policies: [
          {
            Version: '2012-10-17',
            Statement: [
              { Effect: 'Allow', Action: 'ecr:GetAuthorizationToken', Resource: '*' },
              { Effect: 'Allow', Action: actions, Resource: resources },
            ],
          },
        ],
      });
      // As whoever hands a session on may cut it down.
      const Condition = { DateLessThan: { 'aws:CurrentTime': until?.toISOString() } };
      const sessionPolicy = until && {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: 'ecr:*', Resource: '*', Condition }],
      };
      return principals.session(arn, 'test', { ...options, sessionPolicy });
    },
    /** What `docker login` wants. */
    async password(credentials: AwsCredentials): Promise<string> {
      const answer = await client(credentials).send(new GetAuthorizationTokenCommand({}));
      const token = answer.authorizationData?.[0]?.authorizationToken ?? '';
      return Buffer.from(token, 'base64').toString('utf8').replace(/^AWS:/, '');
    },
    async close() {
      await registry.stop();
      await frontDoor.close();
      journal.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type EcrWorld = Awaited<ReturnType<typeof openEcrWorld>>;

export const PULL = ['ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'];
/** As ECR's guide lists them: some clients ask whether a manifest is there before they put it. */
export const PUSH = [
  'ecr:BatchGetImage',
  'ecr:BatchCheckLayerAvailability',
  'ecr:InitiateLayerUpload',
  'ecr:UploadLayerPart',
  'ecr:CompleteLayerUpload',
  'ecr:PutImage',
];
