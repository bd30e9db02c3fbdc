import { describe, expect, test } from 'vitest';
import { ASSERTION_PARTITIONS } from '../../functions/identity/service-account-keys.ts';
import {
  AUDIT_PARTITIONS,
  OUTBOX_PARTITIONS,
  RECEIPT_PARTITIONS,
} from '../../functions/platform/data/keys.ts';
import { ANY_RESOURCE, PREFIXES } from '../../lib/wildcards.ts';
import { ofType, synthesizedApp } from './synthesized.ts';

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, string[]>>;
}

const { platform, data } = synthesizedApp();

const grants = ofType({ ...data, ...platform }, 'AWS::IAM::Policy').flatMap(([policy, { Properties }]) =>
  (Properties.PolicyDocument.Statement as Statement[]).flatMap((statement) =>
    [statement.Resource]
      .flat()
      .flatMap((resource) =>
        [statement.Action]
          .flat()
          .map((action) => ({ policy, action, resource: rendered(resource), statement })),
      ),
  ),
);

/** An ARN as text, with what only the cloud knows in angle brackets. */
function rendered(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const join = (resource as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join'];
  return join ? join[1].map(rendered).join(join[0]) : `<${JSON.stringify(resource)}>`;
}

const partitionsOf = ({ Condition }: Statement): string[] =>
  Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [];

const allowed = new Set<string>(Object.values(ANY_RESOURCE).flatMap(({ actions }) => actions));

describe('grants', () => {
  test('name no action by wildcard', () => {
    expect(grants.filter(({ action }) => action.includes('*'))).toEqual([]);
  });

  test('on any resource are those listed with a reason, and every one of them', () => {
    const granted = grants.filter(({ resource }) => resource === '*').map(({ action }) => action);
    expect(new Set(granted)).toEqual(allowed);
  });

  test('on a prefix are those listed with a reason', () => {
    const wide = grants.filter(({ resource }) => resource !== '*' && resource.includes('*'));
    const listed = Object.values(PREFIXES);
    const unlisted = wide.filter(
      ({ action, resource }) =>
        !listed.some(
          (each) => each.actions.some((known) => known === action) && each.resource.test(resource),
        ),
    );
    expect(unlisted).toEqual([]);
    expect(wide.length).toBeGreaterThan(0);
  });

  test('on items of a table are fenced to partitions', () => {
    const onItems = grants.filter(({ action }) =>
      /^dynamodb:(?!ListStreams|DescribeStream|GetRecords|GetShardIterator)/.test(action),
    );
    expect(onItems.length).toBeGreaterThan(0);
    for (const { statement } of onItems) {
      const partitions = partitionsOf(statement);
      expect(partitions.length).toBeGreaterThan(0);
      for (const partition of partitions) expect(partition).toMatch(/^[A-Z_]+(#|$)/);
    }
  });

  test('never let a function scan a table', () => {
    expect(grants.filter(({ action }) => /Scan|PartiQL|ExportTable/.test(action))).toEqual([]);
  });

  test.each([AUDIT_PARTITIONS, OUTBOX_PARTITIONS, RECEIPT_PARTITIONS, ASSERTION_PARTITIONS])(
    'let nobody alter or remove what stands in %s',
    (partition) => {
      const granted = grants
        .filter(({ statement }) => partitionsOf(statement).includes(partition))
        .map(({ action }) => action);
      expect(granted).toContain('dynamodb:PutItem');
      expect(granted.filter((action) => /UpdateItem|DeleteItem|BatchWriteItem/.test(action))).toEqual([]);
    },
  );

  test('let one function alone do anything with the keys that sign tokens', () => {
    const about = grants.filter(
      ({ action, resource }) => action.startsWith('kms:') && resource.includes('TokenSigningKey'),
    );
    expect(about.map(({ action }) => action)).toContain('kms:Sign');
    expect(new Set(about.map(({ policy }) => policy))).toEqual(
      new Set([expect.stringMatching(/^IdentityApiRole/)]),
    );
  });

  test('let only what tells hosts what to believe sign with the key for that', () => {
    const signers = grants.filter(({ action }) => action === 'kms:Sign');
    const others = signers.filter(({ resource }) => !resource.includes('TokenSigningKey'));
    expect(others.filter(({ resource }) => !resource.includes('HostKey'))).toEqual([]);
    expect(new Set(others.map(({ policy }) => policy))).toEqual(
      new Set([expect.stringMatching(/^AgentApiRole/), expect.stringMatching(/^TasksApiRole/)]),
    );
  });
});

describe('roles', () => {
  const trusted = ofType({ ...data, ...platform }, 'AWS::IAM::Role').map(
    ([role, { Properties }]) =>
      [
        role,
        Properties.AssumeRolePolicyDocument.Statement as { Principal: unknown; Action: unknown }[],
      ] as const,
  );

  test.each(trusted)('%s is assumed by one service, or by one other role', (_, statements) => {
    expect(statements).toHaveLength(1);
    const [{ Principal, Action } = { Principal: {}, Action: '' }] = statements;
    expect(Action).toBe('sts:AssumeRole');
    const isService = { Service: expect.stringMatching(/^(lambda|states|scheduler)\.amazonaws\.com$/) };
    const isRole = { AWS: { 'Fn::GetAtt': [expect.stringMatching(/Role/), 'Arn'] } };
    expect([isService, isRole]).toContainEqual(Principal);
  });
});
