import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ofType, type Resource, synthesize, synthesizedApp, synthesizeOnce } from './synthesized.ts';

const PRODUCTION = {
  front: 'true',
  domain_name: 'api.example.com',
  certificate_arn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b-2c',
  console_origin: 'https://console.example.com',
};

const httpApiOf = (resources: Record<string, Resource>) =>
  ofType(resources, 'AWS::ApiGatewayV2::Api').find(
    ([, { Properties }]) => Properties.ProtocolType === 'HTTP',
  );

describe('without a front', () => {
  const { platform, stacks } = synthesizedApp();

  test('there is neither distribution nor firewall nor secret, and functions trust the gateway alone', () => {
    expect(Object.keys(stacks)).not.toContain('GpuaasFront');
    expect(ofType(platform, 'AWS::SecretsManager::Secret')).toEqual([]);
    for (const [, { Properties }] of ofType(platform, 'AWS::Lambda::Function'))
      expect(Properties.Environment?.Variables ?? {}).not.toHaveProperty('FRONT_SECRET');
  });

  test('a browser of another origin gets nothing', () => {
    expect(httpApiOf(platform)?.[1].Properties.CorsConfiguration).toBeUndefined();
  });
});

describe('with a front', { timeout: 120_000 }, () => {
  const { outdir, stacks, platform, remove } = synthesize({ context: PRODUCTION });
  afterAll(remove);
  const [, distribution] = ofType(platform, 'AWS::CloudFront::Distribution')[0] ?? [];
  const { DistributionConfig: config } = distribution?.Properties ?? {};
  const [, firewall] = ofType(platform, 'AWS::WAFv2::WebACL')[0] ?? [];

  test('the app passes cdk-nag as well', () => {
    const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as {
      pluginReports: unknown[];
    };
    expect(report.pluginReports).toEqual([]);
  });

  test('CloudFront answers at the name of the platform, caches nothing and passes everything on', () => {
    expect(config.Aliases).toEqual(['api.example.com']);
    for (const behavior of [config.DefaultCacheBehavior, ...config.CacheBehaviors]) {
      expect(behavior).toMatchObject({ ViewerProtocolPolicy: 'https-only' });
      expect(behavior.AllowedMethods).toEqual(expect.arrayContaining(['DELETE', 'PATCH', 'POST', 'PUT']));
      // CachingDisabled and AllViewerExceptHostHeader, by the ids AWS gave them.
      expect(behavior.CachePolicyId).toBe('4135ea2d-6df8-44a3-9df3-4b5a84be39ad');
      expect(behavior.OriginRequestPolicyId).toBe('b689b0a8-53d0-40ab-baf2-68738e2966ac');
      expect(behavior.FunctionAssociations).toHaveLength(1);
    }
    expect(config.CacheBehaviors.map(({ PathPattern }: { PathPattern: string }) => PathPattern)).toEqual([
      '/live',
    ]);
  });

  test('its firewall stands in the one region where CloudFront looks for it', () => {
    expect(Object.keys(stacks['GpuaasFirewall'] ?? {})).toHaveLength(1);
    expect(firewall?.Properties.Scope).toBe('CLOUDFRONT');
    const { artifacts } = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8')) as {
      artifacts: Record<string, { environment?: string }>;
    };
    expect(artifacts['GpuaasFirewall']?.environment).toContain('us-east-1');
    expect(JSON.stringify(config.WebACLId)).toContain('Acl');
  });

  test('one address, anonymous or not, cannot use up what the stage takes from everybody', () => {
    const [, stage] =
      ofType(platform, 'AWS::ApiGatewayV2::Stage').find(
        ([, { Properties }]) => Properties.StageName === '$default',
      ) ?? [];
    const { ThrottlingRateLimit } = stage?.Properties.DefaultRouteSettings ?? {};
    const rules = firewall?.Properties.Rules as {
      Name: string;
      Action: { Block: { CustomResponse: { ResponseCode: number } } };
      Statement: {
        RateBasedStatement: { Limit: number; EvaluationWindowSec: number; AggregateKeyType: string };
      };
    }[];
    const perSecond = Object.fromEntries(
      rules.map(({ Name, Statement: { RateBasedStatement: rate } }) => {
        expect(rate.AggregateKeyType).toBe('IP');
        return [Name, rate.Limit / rate.EvaluationWindowSec];
      }),
    );
    expect(perSecond['Anonymous']).toBeLessThanOrEqual(ThrottlingRateLimit / 100);
    expect(perSecond['Everybody']).toBeLessThanOrEqual(ThrottlingRateLimit / 10);
    for (const { Action } of rules) expect(Action.Block.CustomResponse.ResponseCode).toBe(429);
  });

  test('every function that answers HTTP knows the secret that the front shows, and no other function', () => {
    const knowing = ofType(platform, 'AWS::Lambda::Function')
      .filter(([, { Properties }]) => Properties.Environment?.Variables?.FRONT_SECRET)
      .map(([, { Properties }]) => String(Properties.FunctionName));
    const answering = ofType(platform, 'AWS::Lambda::Function')
      .map(([, { Properties }]) => String(Properties.FunctionName))
      .filter((name) => name.endsWith('-api'));
    expect(knowing.sort()).toEqual(answering.sort());
    const [shown] = config.Origins[0].OriginCustomHeaders;
    expect(shown.HeaderName).toBe('x-front-secret');
    expect(JSON.stringify(shown.HeaderValue)).toContain('{{resolve:secretsmanager:');
  });

  test('the gateway has no name of its own, and tokens, tickets and documents name the front', () => {
    expect(ofType(platform, 'AWS::ApiGatewayV2::DomainName')).toEqual([]);
    const text = JSON.stringify(ofType(platform, 'AWS::Lambda::Function'));
    expect(text).toContain('"TOKEN_ISSUER":"https://api.example.com"');
    expect(text).toContain('"SOCKET_URL":"wss://api.example.com/live"');
  });

  test('the console’s origin may call the API from a browser, and no other', () => {
    expect(httpApiOf(platform)?.[1].Properties.CorsConfiguration).toMatchObject({
      AllowOrigins: ['https://console.example.com'],
      AllowHeaders: expect.arrayContaining(['authorization', 'if-match', 'idempotency-key']),
    });
  });
});

test.each([
  [{ front: 'true' }, /front needs domain_name/],
  [
    { ...PRODUCTION, certificate_arn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c' },
    /certificate_arn in us-east-1/,
  ],
])('a front that could not be made is refused: %j', (context, sentence) => {
  expect(() => synthesizeOnce({ validate: false, context })).toThrow(sentence);
});
