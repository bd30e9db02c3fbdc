import { describe, expect, test } from 'vitest';
import type { AssembledStack } from '../../../lib/local/template/assembly.ts';
import { identifyWith, kindOf } from '../../../lib/local/resources/index.ts';
import { Templates, type Identify, type Template } from '../../../lib/local/template/template.ts';

const plain: Identify = (resource) => ({
  ref: `ref-${resource.logicalId}`,
  attributes: { Arn: `arn-${resource.logicalId}` },
});

function stack(name: string, template: Template): AssembledStack {
  return { name, template, assets: new Map() };
}

/** Resolves one value as a property of a resource in a template of its own. */
function resolved(value: unknown, more: Template = {}, others: AssembledStack[] = []): unknown {
  const template = {
    ...more,
    Resources: { ...more.Resources, It: { Type: 'T', Properties: { Value: value } } },
  };
  return new Templates([...others, stack('S', template)], plain).declared('S', 'It').properties['Value'];
}

describe('a template is resolved as CloudFormation does it', () => {
  const other: Template = { Resources: { Other: { Type: 'T' } } };

  test.each([
    ['a reference', { Ref: 'Other' }, 'ref-Other'],
    ['an attribute as a pair', { 'Fn::GetAtt': ['Other', 'Arn'] }, 'arn-Other'],
    ['an attribute with a dot', { 'Fn::GetAtt': 'Other.Arn' }, 'arn-Other'],
    ['a join', { 'Fn::Join': ['/', ['a', { Ref: 'Other' }]] }, 'a/ref-Other'],
    [
      'a substitution',
      { 'Fn::Sub': '${Other}:${Other.Arn}:${AWS::Region}:${!Kept}' },
      'ref-Other:arn-Other:us-east-1:${Kept}',
    ],
    [
      'a substitution with values',
      { 'Fn::Sub': ['${A}-${Other}', { A: { Ref: 'Other' } }] },
      'ref-Other-ref-Other',
    ],
    ['a selection from a split', { 'Fn::Select': ['1', { 'Fn::Split': ['-', { Ref: 'Other' }] }] }, 'Other'],
    ['the account', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['base64', { 'Fn::Base64': 'x' }, 'eA=='],
    ['a value that is none, dropped from a list', [1, { Ref: 'AWS::NoValue' }, 2], [1, 2]],
    ['a value that is none, dropped from an object', { a: 1, b: { Ref: 'AWS::NoValue' } }, { a: 1 }],
  ])('%s', (_, value, expected) => {
    expect(resolved(value, other)).toEqual(expected);
  });

  test('parameters take their default, and one without is refused by name', () => {
    expect(resolved({ Ref: 'P' }, { Parameters: { P: { Type: 'String', Default: 'x' } } })).toBe('x');
    expect(() => resolved({ Ref: 'P' }, { Parameters: { P: { Type: 'String' } } })).toThrow(
      'parameter P without a default',
    );
  });

  test('mappings are looked up', () => {
    const template: Template = { Mappings: { M: { a: { b: 7 } } } };
    expect(resolved({ 'Fn::FindInMap': ['M', 'a', 'b'] }, template)).toBe(7);
  });

  test('conditions choose values and leave out resources', () => {
    const Conditions = {
      Yes: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
      No: { 'Fn::Not': [{ Condition: 'Yes' }] },
      Both: { 'Fn::And': [{ Condition: 'Yes' }, { Condition: 'No' }] },
      Either: { 'Fn::Or': [{ Condition: 'Yes' }, { Condition: 'No' }] },
    };
    const choose = (condition: string): unknown =>
      resolved({ 'Fn::If': [condition, 'then', 'else'] }, { Conditions });
    expect(['Yes', 'No', 'Both', 'Either'].map(choose)).toEqual(['then', 'else', 'else', 'then']);

    const Resources = { Kept: { Type: 'T', Condition: 'Yes' }, Dropped: { Type: 'T', Condition: 'No' } };
    const templates = new Templates([stack('S', { Conditions, Resources })], plain);
    expect(templates.resources().map((resource) => resource.logicalId)).toEqual(['Kept']);
  });

  test('a value exported by one stack is imported by another', () => {
    const exporting = stack('Data', {
      Resources: { Table: { Type: 'T' } },
      Outputs: {
        Out: {
          Value: { 'Fn::GetAtt': ['Table', 'Arn'] },
          Export: { Name: { 'Fn::Sub': '${AWS::StackName}:TableArn' } },
        },
      },
    });
    expect(resolved({ 'Fn::ImportValue': 'Data:TableArn' }, {}, [exporting])).toBe('arn-Table');
    expect(() => resolved({ 'Fn::ImportValue': 'Data:Nothing' }, {}, [exporting])).toThrow(
      'exports Data:Nothing',
    );
  });

  test.each([
    [{ Ref: 'Nowhere' }, 'S refers to Nowhere'],
    [{ 'Fn::GetAtt': ['Other', 'Nothing'] }, 'S/Other (T) has no attribute Nothing'],
    [{ 'Fn::Cidr': [] }, 'S uses Fn::Cidr'],
  ])('what cannot be resolved is said: %j', (value, message) => {
    expect(() => resolved(value, other)).toThrow(message);
  });
});

describe('a resource the engine cannot host stops it with a sentence', () => {
  const identify = identifyWith({ url: 'http://127.0.0.1:1', streams: new Map() });

  test('an unknown type is named with its resource', () => {
    const templates = new Templates(
      [stack('S', { Resources: { Cache: { Type: 'AWS::ElastiCache::CacheCluster' } } })],
      identify,
    );
    expect(() => templates.resources()).toThrow(
      'S/Cache is a AWS::ElastiCache::CacheCluster, which the local engine cannot host.',
    );
  });

  test('an unknown property of a known type is named too', () => {
    const resource = {
      stack: 'S',
      logicalId: 'Q',
      type: 'AWS::SQS::Queue',
      properties: { Colour: 'red' },
      assets: new Map(),
    };
    expect(() => kindOf(resource)).toThrow(
      'S/Q (AWS::SQS::Queue) sets Colour, which the local engine does not know.',
    );
  });

  test('names the template leaves open are stable and within the limits of AWS', () => {
    const name = (): string => {
      const logicalId = `Function${'x'.repeat(80)}`;
      const templates = new Templates(
        [stack('S', { Resources: { [logicalId]: { Type: 'AWS::Lambda::Function' } } })],
        identify,
      );
      return templates.declared('S', logicalId).identity.ref;
    };
    expect(name()).toBe(name());
    expect(name().length).toBeLessThanOrEqual(64);
  });
});
