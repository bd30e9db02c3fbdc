import {
  AssumeRoleCommand,
  GetCallerIdentityCommand,
  GetSessionTokenCommand,
  STSClient,
} from '@aws-sdk/client-sts';
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';

const queueArn = 'arn:aws:sqs:us-east-1:000000000000:node-1';
const pullerArn = 'arn:aws:iam::000000000000:role/puller';

let world: AwsServices;
let QueueUrl: string | undefined;

beforeAll(async () => {
  world = await openAwsServices();
  const operator = new SQSClient(world.asOperator());
  ({ QueueUrl } = await operator.send(new CreateQueueCommand({ QueueName: 'node-1' })));
  world.putRole('puller', [
    allow(['sqs:SendMessage', 'sqs:ReceiveMessage'], 'arn:aws:sqs:us-east-1:000000000000:node-*'),
  ]);
});

afterAll(async () => {
  await world?.close();
});

const broker = () => new STSClient(world.asRole('broker', allow('sts:AssumeRole', pullerArn)));

async function assume(input: { Policy?: string; DurationSeconds?: number } = {}): Promise<AwsCredentials> {
  const command = new AssumeRoleCommand({ RoleArn: pullerArn, RoleSessionName: 'node-1', ...input });
  const { Credentials } = await broker().send(command);
  return {
    accessKeyId: Credentials?.AccessKeyId ?? '',
    secretAccessKey: Credentials?.SecretAccessKey ?? '',
    sessionToken: Credentials?.SessionToken,
    expiration: Credentials?.Expiration,
  };
}

const session = (...statements: object[]) => JSON.stringify({ Version: '2012-10-17', Statement: statements });

test('everyone may ask who they are', async () => {
  const operator = await new STSClient(world.asOperator()).send(new GetCallerIdentityCommand({}));
  expect(operator).toMatchObject({ Arn: 'arn:aws:iam::000000000000:user/operator', Account: '000000000000' });
  const role = await new STSClient(world.asRole('nobody')).send(new GetCallerIdentityCommand({}));
  expect(role.Arn).toBe('arn:aws:sts::000000000000:assumed-role/nobody/test');
  expect(role.UserId).toMatch(/^AROA[A-Z2-7]{16}:test$/);
});

describe('an assumed role', () => {
  test('may do what the role may', async () => {
    const credentials = await assume({ DurationSeconds: 900 });
    const secondsLeft = ((credentials.expiration?.getTime() ?? 0) - Date.now()) / 1000;
    expect(secondsLeft).toBeGreaterThan(880);
    expect(secondsLeft).toBeLessThanOrEqual(900);
    const client = new SQSClient(world.as(credentials));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
    const identity = await new STSClient(world.as(credentials)).send(new GetCallerIdentityCommand({}));
    expect(identity.Arn).toBe('arn:aws:sts::000000000000:assumed-role/puller/node-1');
  });

  test('is narrowed by the session policy it was assumed with', async () => {
    const client = new SQSClient(
      world.as(await assume({ Policy: session(allow('sqs:ReceiveMessage', queueArn)) })),
    );
    await client.send(new ReceiveMessageCommand({ QueueUrl }));
    const denied = await failure(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' })));
    expect(denied.message).toMatch(/because no session policy allows the sqs:SendMessage action$/);
  });

  test('gains nothing from a session policy that is wider than the role', async () => {
    const client = new SQSClient(world.as(await assume({ Policy: session(allow('*', '*')) })));
    expect((await failure(client.send(new CreateQueueCommand({ QueueName: 'node-2' })))).name).toBe(
      'AccessDeniedException',
    );
  });

  test('still works after a restart, session policy included', async () => {
    const credentials = await assume({ Policy: session(allow('sqs:ReceiveMessage', queueArn)) });
    const restarted = await openAwsServices();
    try {
      const operator = new SQSClient(restarted.asOperator());
      const { QueueUrl: url } = await operator.send(new CreateQueueCommand({ QueueName: 'node-1' }));
      restarted.putRole('puller', [allow('sqs:*', '*')]);
      const client = new SQSClient(restarted.as(credentials));
      await client.send(new ReceiveMessageCommand({ QueueUrl: url }));
      expect(
        (await failure(client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x' })))).name,
      ).toBe('AccessDeniedException');
    } finally {
      await restarted.close();
    }
  });

  test('is over when it expires', async () => {
    const credentials = world.principals.session(pullerArn, 'late', { expiresAt: new Date(Date.now() - 1) });
    const error = await failure(new STSClient(world.as(credentials)).send(new GetCallerIdentityCommand({})));
    expect(error.name).toBe('ExpiredToken');
  });
});

describe('a role is not assumed', () => {
  const command = (input: object = {}) =>
    new AssumeRoleCommand({ RoleArn: pullerArn, RoleSessionName: 'node-1', ...input });

  test('without the permission', async () => {
    const error = await failure(new STSClient(world.asRole('idle')).send(command()));
    expect(error.name).toBe('AccessDenied');
    expect(error.message).toContain(`sts:AssumeRole on resource: ${pullerArn}`);
  });

  test('when it trusts someone else', async () => {
    const trust = {
      Statement: {
        Effect: 'Allow',
        Principal: { Service: 'lambda.amazonaws.com' },
        Action: 'sts:AssumeRole',
      },
    };
    const RoleArn = world.putRole('for-lambda', [], trust);
    const client = new STSClient(world.asRole('hopeful', allow('sts:AssumeRole', '*')));
    expect((await failure(client.send(command({ RoleArn })))).name).toBe('AccessDenied');
  });

  test('when it does not exist, not even by the operator', async () => {
    const RoleArn = 'arn:aws:iam::000000000000:role/none';
    expect((await failure(new STSClient(world.asOperator()).send(command({ RoleArn })))).name).toBe(
      'AccessDenied',
    );
  });

  test.each([
    ['for too short', { DurationSeconds: 899 }, 'ValidationError'],
    ['for too long', { DurationSeconds: 43_201 }, 'ValidationError'],
    ['for more than an hour by another role', { DurationSeconds: 3601 }, 'ValidationError'],
    ['under a name that AWS would not take', { RoleSessionName: 'a b' }, 'ValidationError'],
    ['with a policy that is no JSON', { Policy: '{' }, 'MalformedPolicyDocumentException'],
    ['with a policy that says nothing', { Policy: '{}' }, 'MalformedPolicyDocumentException'],
    [
      'with a policy on no ARN',
      { Policy: session(allow('s3:*', 'everything')) },
      'MalformedPolicyDocumentException',
    ],
    [
      'with a policy that is too long',
      { Policy: session(allow('s3:*', `arn:aws:s3:::${'x'.repeat(2048)}`)) },
      'ValidationError',
    ],
    [
      'with managed policies',
      { PolicyArns: [{ arn: 'arn:aws:iam::aws:policy/ReadOnlyAccess' }] },
      'ValidationError',
    ],
  ])('%s', async (_how, input, code) => {
    expect((await failure(broker().send(command(input)))).name).toBe(code);
  });
});

test('the operator may hold a role for up to twelve hours', async () => {
  const client = new STSClient(world.asOperator());
  const command = new AssumeRoleCommand({
    RoleArn: pullerArn,
    RoleSessionName: 'me',
    DurationSeconds: 43_200,
  });
  expect((await client.send(command)).Credentials?.Expiration?.getTime()).toBeGreaterThan(
    Date.now() + 43_000_000,
  );
});

test('other operations are refused by name', async () => {
  const error = await failure(new STSClient(world.asOperator()).send(new GetSessionTokenCommand({})));
  expect(error.name).toBe('InvalidAction');
  expect(error.message).toContain('GetSessionToken');
});
