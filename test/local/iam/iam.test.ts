import { beforeEach, describe, expect, test } from 'vitest';
import type { Access, PolicyDocument, PolicyStatement, Principal } from '../../../lib/local/wire/aws.ts';
import { Iam } from '../../../lib/local/iam/iam.ts';
import { allow, trustAccount } from '../services/aws-services-world.ts';

const roleArn = 'arn:aws:iam::000000000000:role/worker';
const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/control';
const queue = 'arn:aws:sqs:us-east-1:000000000000:tasks';
const key = 'arn:aws:kms:us-east-1:000000000000:key/one';
const machine = 'arn:aws:states:us-east-1:000000000000:stateMachine:deploy';
const functionArn = 'arn:aws:lambda:us-east-1:000000000000:function:api';

let iam: Iam;
beforeEach(() => {
  iam = new Iam();
});

function worker(sessionPolicy?: PolicyDocument): Principal {
  const arn = 'arn:aws:sts::000000000000:assumed-role/worker/w1';
  return { kind: 'role', arn, roleArn, sessionName: 'w1', ...(sessionPolicy && { sessionPolicy }) };
}

function grant(...statements: PolicyStatement[]): void {
  iam.putRole({
    arn: roleArn,
    trust: trustAccount,
    policies: [{ Version: '2012-10-17', Statement: statements }],
  });
}

/** What the denial says, or that there was none. */
function ask(access: Access, principal = worker()): string {
  try {
    iam.authorize(principal, access);
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('what a role may do', () => {
  test('a denial names who, what, where and why, as AWS does', () => {
    grant(allow('dynamodb:GetItem', table));
    expect(ask({ action: 'dynamodb:PutItem', resource: table })).toBe(
      `User: arn:aws:sts::000000000000:assumed-role/worker/w1 is not authorized to perform: dynamodb:PutItem on resource: ${table} because no identity-based policy allows the dynamodb:PutItem action`,
    );
  });

  const put = { action: 'dynamodb:PutItem', resource: table };
  const deny = { ...allow('dynamodb:*', '*'), Effect: 'Deny' };
  test.each<[string, PolicyStatement[], Access, RegExp]>([
    ['a grant', [allow('dynamodb:PutItem', table)], put, /^allowed$/],
    ['a grant by pattern', [allow('dynamodb:Put*', `${table.slice(0, -3)}*`)], put, /^allowed$/],
    ['a grant of another action', [allow('dynamodb:GetItem', table)], put, /no identity-based policy/],
    [
      'a grant on another resource',
      [allow('dynamodb:PutItem', `${table}2`)],
      put,
      /no identity-based policy/,
    ],
    [
      'a deny beside the grant',
      [allow('dynamodb:*', '*'), deny],
      put,
      /explicit deny in an identity-based policy/,
    ],
    [
      'an action that does not exist',
      [allow('*', '*')],
      { ...put, action: 'dynamodb:PutItems' },
      /has no action of this name/,
    ],
    [
      'a service that does not exist',
      [allow('*', '*')],
      { ...put, action: 'dinamo:PutItem' },
      /has no action of this name/,
    ],
    [
      'an action without a service',
      [allow('*', '*')],
      { ...put, action: 'PutItem' },
      /has no action of this name/,
    ],
    [
      'an action that has no resources, on *',
      [allow('sqs:ListQueues', '*')],
      { action: 'sqs:ListQueues', resource: '*' },
      /^allowed$/,
    ],
    [
      'an action that has no resources, on one',
      [allow('sqs:ListQueues', queue)],
      { action: 'sqs:ListQueues', resource: '*' },
      /no identity/,
    ],
    [
      'an asterisk in a key',
      [allow('s3:GetObject', 'arn:aws:s3:::b/mine/*')],
      { action: 's3:GetObject', resource: 'arn:aws:s3:::b/*' },
      /no identity/,
    ],
    [
      'a key with an asterisk under the grant',
      [allow('s3:GetObject', 'arn:aws:s3:::b/mine/*')],
      { action: 's3:GetObject', resource: 'arn:aws:s3:::b/mine/*' },
      /^allowed$/,
    ],
    [
      'a task answered for its machine',
      [allow('states:SendTaskSuccess', machine)],
      { action: 'states:SendTaskSuccess', resource: machine },
      /^allowed$/,
    ],
    [
      'a task answered for another machine',
      [allow('states:SendTaskSuccess', `${machine}2`)],
      { action: 'states:SendTaskSuccess', resource: machine },
      /no identity/,
    ],
  ])('%s', (_what, statements, access, expected) => {
    grant(...statements);
    expect(ask(access)).toMatch(expected);
  });

  const good = { Effect: 'Allow', Action: 'dynamodb:PutItem', Resource: table };
  test.each<[string, unknown, RegExp]>([
    ['a resource that is no ARN', { ...good, Resource: 'control' }, /neither an ARN nor \*/],
    ['a resource that was not resolved', { ...good, Resource: [{ Ref: 'Table' }] }, /neither an ARN nor \*/],
    ['an action without a service', { ...good, Action: 'PutItem' }, /service:Action/],
    ['no action', { ...good, Action: undefined }, /either Action or NotAction/],
    ['an effect that does not exist', { ...good, Effect: 'allow' }, /Allow or Deny/],
    [
      'a condition without an operator',
      { ...good, Condition: { 'aws:SourceArn': 'x' } },
      /operators to keys/,
    ],
    [
      'a list that the engine cannot supply',
      { ...good, Condition: { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk'] } } },
      /never supplies dynamodb:Attributes/,
    ],
    ['no statement at all', undefined, /no Statement/],
  ])('a policy with %s is refused when it is put, as at AWS', (_what, statement, message) => {
    const malformed = { Version: '2012-10-17', Statement: statement } as PolicyDocument;
    expect(() => iam.putRole({ arn: roleArn, trust: trustAccount, policies: [malformed] })).toThrow(message);
    expect(() => iam.putResourcePolicy(queue, malformed)).toThrow(message);
    grant(allow('*', '*'));
    expect(ask(put, worker(malformed))).toMatch(/the session policy is malformed/);
  });

  test('a role that is not known may do nothing', () => {
    expect(ask(put)).toMatch(/no identity-based policy/);
  });

  test('the person at this machine may do everything', () => {
    expect(ask(put, { kind: 'operator', arn: 'arn:aws:iam::000000000000:user/operator' })).toBe('allowed');
  });
});

describe('conditions', () => {
  const access = (...leadingKeys: string[]): Access => ({
    action: 'dynamodb:Query',
    resource: table,
    context: { 'dynamodb:LeadingKeys': leadingKeys },
  });

  test('leading keys are compared one by one, also after another key was allowed', () => {
    grant(
      allow('dynamodb:Query', table, { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['org#1#*'] } }),
    );
    expect(ask(access('org#1#a'))).toBe('allowed');
    expect(ask(access('org#2#a'))).toMatch(/no identity-based policy/);
    expect(ask(access('org#1#a', 'org#2#a'))).toMatch(/no identity-based policy/);
    expect(ask(access('org#1#b'))).toBe('allowed');
  });

  test('a policy that insists on TLS holds over loopback', () => {
    const insecure = { Bool: { 'aws:SecureTransport': 'false' } };
    grant(allow('sqs:SendMessage', queue), { ...allow('sqs:*', '*', insecure), Effect: 'Deny' });
    expect(ask({ action: 'sqs:SendMessage', resource: queue })).toBe('allowed');
  });

  test('a policy that ends at a time is asked each time', () => {
    const until = (date: string) => ({ DateLessThan: { 'aws:CurrentTime': date } });
    grant(allow('sqs:SendMessage', queue, until('2000-01-01T00:00:00Z')));
    expect(ask({ action: 'sqs:SendMessage', resource: queue })).toMatch(/no identity-based policy/);
    const soon = new Date(Date.now() + 300);
    grant(allow('sqs:SendMessage', queue, until(soon.toISOString())));
    expect(ask({ action: 'sqs:SendMessage', resource: queue })).toBe('allowed');
    while (Date.now() <= soon.getTime());
    expect(ask({ action: 'sqs:SendMessage', resource: queue })).toMatch(/no identity-based policy/);
  });

  test('the session is known to policies that name it', () => {
    grant(allow('s3:GetObject', 'arn:aws:s3:::b/${aws:PrincipalAccount}/*'));
    expect(ask({ action: 's3:GetObject', resource: 'arn:aws:s3:::b/000000000000/x' })).toBe('allowed');
    expect(ask({ action: 's3:GetObject', resource: 'arn:aws:s3:::b/111111111111/x' })).toMatch(/no identity/);
  });
});

describe('session policies', () => {
  const send = { action: 'sqs:SendMessage', resource: queue };
  const only = (action: string): PolicyDocument => ({
    Version: '2012-10-17',
    Statement: [allow(action, '*')],
  });

  test('narrow what the role may do, and never add to it', () => {
    grant(allow(['sqs:SendMessage', 'sqs:ReceiveMessage'], queue));
    expect(ask(send, worker(only('sqs:SendMessage')))).toBe('allowed');
    expect(ask(send, worker(only('sqs:ReceiveMessage')))).toMatch(
      /because no session policy allows the sqs:SendMessage/,
    );
    expect(ask({ ...send, action: 'sqs:DeleteQueue' }, worker(only('sqs:*')))).toMatch(
      /no identity-based policy/,
    );
  });

  test('narrow a key as well, whose own policy trusts the account', () => {
    grant(allow('kms:*', key));
    iam.putResourcePolicy(key, {
      Statement: {
        Effect: 'Allow',
        Principal: { AWS: 'arn:aws:iam::000000000000:root' },
        Action: 'kms:*',
        Resource: '*',
      },
    });
    const decrypt = { action: 'kms:Decrypt', resource: key };
    expect(ask(decrypt, worker(only('kms:Decrypt')))).toBe('allowed');
    expect(ask(decrypt, worker(only('kms:Encrypt')))).toMatch(/no session policy/);
  });
});

describe('resource policies', () => {
  const named = (principal: object, action: string, resource = '*'): PolicyDocument => ({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: principal, Action: action, Resource: resource }],
  });

  test('a queue may admit a role that has no policy of its own for it', () => {
    grant();
    iam.putResourcePolicy(queue, named({ AWS: roleArn }, 'sqs:SendMessage', queue));
    expect(ask({ action: 'sqs:SendMessage', resource: queue })).toBe('allowed');
    expect(ask({ action: 'sqs:ReceiveMessage', resource: queue })).toMatch(/no identity-based policy/);
  });

  test('a deny on the bucket holds for the objects in it', () => {
    grant(allow('s3:*', '*'));
    const deny = { Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::b/*' };
    iam.putResourcePolicy('arn:aws:s3:::b', { Statement: [deny] });
    expect(ask({ action: 's3:DeleteObject', resource: 'arn:aws:s3:::b/a/b' })).toMatch(
      /explicit deny in a resource-based policy/,
    );
    expect(ask({ action: 's3:GetObject', resource: 'arn:aws:s3:::b/a/b' })).toBe('allowed');
  });

  test('a key without a policy that trusts the account is closed to everyone', () => {
    grant(allow('kms:Decrypt', key));
    expect(ask({ action: 'kms:Decrypt', resource: key })).toMatch(
      /no resource-based policy allows the kms:Decrypt/,
    );
    iam.putResourcePolicy(key, named({ AWS: 'arn:aws:iam::000000000000:root' }, 'kms:*'));
    expect(ask({ action: 'kms:Decrypt', resource: key })).toBe('allowed');
  });

  test('permissions of a function add up, each for its own service and source', () => {
    const permit = (service: string, source: string): PolicyDocument => ({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: service },
          Action: 'lambda:InvokeFunction',
          Resource: functionArn,
          Condition: { ArnLike: { 'AWS:SourceArn': source } },
        },
      ],
    });
    iam.putResourcePolicy(
      functionArn,
      permit('apigateway.amazonaws.com', 'arn:aws:execute-api:us-east-1:000000000000:api/*'),
    );
    iam.putResourcePolicy(
      functionArn,
      permit('events.amazonaws.com', 'arn:aws:events:us-east-1:000000000000:rule/r'),
    );
    const invoke =
      (service: string, source: string, resource = functionArn) =>
      () =>
        iam.authorizeServicePrincipal(service, {
          action: 'lambda:InvokeFunction',
          resource,
          context: { 'aws:SourceArn': source },
        });
    invoke('apigateway.amazonaws.com', 'arn:aws:execute-api:us-east-1:000000000000:api/$default/GET/x')();
    invoke('events.amazonaws.com', 'arn:aws:events:us-east-1:000000000000:rule/r')();
    expect(invoke('events.amazonaws.com', 'arn:aws:events:us-east-1:000000000000:rule/other')).toThrow(
      /^Service: events.amazonaws.com is not authorized to perform: lambda:InvokeFunction/,
    );
    expect(invoke('s3.amazonaws.com', 'arn:aws:s3:::b')).toThrow(/is not authorized/);
  });
});

describe('trust', () => {
  const target = 'arn:aws:iam::000000000000:role/target';
  const assume = { action: 'sts:AssumeRole', resource: target };
  const putTarget = (principal: object): void =>
    iam.putRole({
      arn: target,
      policies: [],
      trust: { Statement: { Effect: 'Allow', Principal: principal, Action: 'sts:AssumeRole' } },
    });

  test('a role trusts the services its trust policy names', () => {
    putTarget({ Service: 'lambda.amazonaws.com' });
    expect(iam.trusts(target, 'lambda.amazonaws.com')).toBe(true);
    expect(iam.trusts(target, 'states.amazonaws.com')).toBe(false);
    expect(iam.trusts('arn:aws:iam::000000000000:role/none', 'lambda.amazonaws.com')).toBe(false);
  });

  test('where the account is trusted, the one who assumes needs the permission too', () => {
    putTarget({ AWS: 'arn:aws:iam::000000000000:root' });
    grant();
    expect(ask(assume)).toMatch(/no identity-based policy/);
    grant(allow('sts:AssumeRole', target));
    expect(ask(assume)).toBe('allowed');
  });

  test('the permission alone does not open a role that trusts someone else, nor one that is not there', () => {
    putTarget({ Service: 'lambda.amazonaws.com' });
    grant(allow('sts:AssumeRole', '*'));
    expect(ask(assume)).toMatch(/no resource-based policy/);
    expect(ask({ ...assume, resource: 'arn:aws:iam::000000000000:role/none' })).toMatch(
      /there is no such role/,
    );
  });
});

test('what was allowed is forgotten when the policies change', () => {
  const send = { action: 'sqs:SendMessage', resource: queue };
  grant(allow('sqs:SendMessage', queue));
  expect(ask(send)).toBe('allowed');
  grant();
  expect(ask(send)).toMatch(/no identity-based policy/);
  grant(allow('sqs:SendMessage', queue));
  expect(ask(send)).toBe('allowed');
  iam.reset();
  expect(ask(send)).toMatch(/no identity-based policy/);
});

test('what was allowed is forgotten when the resource gets a policy', () => {
  const send = { action: 'sqs:SendMessage', resource: queue };
  grant(allow('sqs:SendMessage', queue));
  expect(ask(send)).toBe('allowed');
  const deny = { Effect: 'Deny', Principal: '*', Action: 'sqs:SendMessage', Resource: queue };
  iam.putResourcePolicy(queue, { Statement: [deny] });
  expect(ask(send)).toMatch(/explicit deny in a resource-based policy/);
});
