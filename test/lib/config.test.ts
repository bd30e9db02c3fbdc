import { App } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { configOf } from '../../lib/config.ts';
import { ofType, synthesizeOnce } from './synthesized.ts';

const certificate_arn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b-2c';

const config = (context: Record<string, unknown>) => configOf(new App({ context }));

describe('the context a platform team sets', () => {
  test('may be empty', () => {
    expect(config({})).toEqual({
      logRetentionDays: 90,
      platformAdmins: 'nobody',
      tokenTtlSeconds: 900,
      heartbeatSeconds: 60,
      nodeSuspectSeconds: 180,
      nodeLostSeconds: 600,
      rootWithoutRemap: 'refused',
      authorizationCacheSeconds: 5,
      cognitoPlan: 'essentials',
      reservedConcurrency: false,
      lambdaConcurrencyQuota: 1_000,
      deletionProtection: false,
      registryName: 'registry.gpuaas.example.com',
      front: false,
      invitationsWithoutEmail: 'refused',
    });
  });

  test('may come from the command line, where everything is text', () => {
    const set = {
      log_retention_days: '30',
      alarm_email: 'ops@example.org',
      authorization_cache_seconds: '2',
      heartbeat_seconds: '10',
      node_suspect_seconds: '20',
      node_lost_seconds: '30',
      root_without_remap: 'allowed',
      reserved_concurrency: 'true',
      lambda_concurrency_quota: '3000',
      deletion_protection: 'false',
      console_origin: 'https://console.example.org',
      cognito_plan: 'plus',
      registry_name: 'registry.example.org',
      oidc_issuer: 'https://people.example.org',
      oidc_tells_email: 'false',
      invitations_without_email: 'accepted',
    };
    expect(config(set)).toEqual({
      oidc: expect.objectContaining({ tells_email: false }) as object,
      invitationsWithoutEmail: 'accepted',
      platformAdmins: 'nobody',
      tokenTtlSeconds: 900,
      heartbeatSeconds: 10,
      nodeSuspectSeconds: 20,
      nodeLostSeconds: 30,
      rootWithoutRemap: 'allowed',
      authorizationCacheSeconds: 2,
      consoleOrigin: 'https://console.example.org',
      cognitoPlan: 'plus',
      logRetentionDays: 30,
      alarmEmail: 'ops@example.org',
      reservedConcurrency: true,
      lambdaConcurrencyQuota: 3_000,
      deletionProtection: false,
      registryName: 'registry.example.org',
      front: false,
    });
  });

  test.each([
    [{ log_retention_days: '31' }, /log_retention_days must be one of 1, 3, 5/],
    [{ heartbeat_seconds: 5 }, /heartbeat_seconds must be 10 to 300/],
    [{ node_suspect_seconds: 119 }, /node_suspect_seconds must be at least twice heartbeat_seconds/],
    [{ node_lost_seconds: 180 }, /less than node_lost_seconds/],
    [{ authorization_cache_seconds: '6' }, /authorization_cache_seconds must be 1 to 5/],
    [{ authorization_cache_seconds: 0 }, /authorization_cache_seconds must be 1 to 5/],
    [{ reserved_concurrency: 'yes' }, /reserved_concurrency must be true or false/],
    [{ lambda_concurrency_quota: 5 }, /lambda_concurrency_quota must be 10 or more/],
    [{ oidc_tells_email: false }, /oidc_tells_email=false needs oidc_issuer/],
    [
      { invitations_without_email: 'accepted' },
      /invitations_without_email=accepted needs oidc_tells_email=false/,
    ],
    [{ invitations_without_email: 'yes' }, /invitations_without_email must be refused or accepted/],
    [{ alarm_email: 'ops' }, /alarm_email must be an e-mail address/],
    [{ console_origin: 'https://console.example.org/' }, /console_origin must be an origin/],
    [{ console_origin: 'http://console.example.org' }, /console_origin must be an origin/],
    [{ console_origin: 'http://127.0.0.1.example.org' }, /console_origin must be an origin/],
    [{ console_origin: 'console.example.org' }, /console_origin must be an origin/],
    [{ cognito_plan: 'lite' }, /cognito_plan must be essentials or plus/],
    [{ registry_name: 'registry:5000' }, /registry_name must be a host name/],
    [{ domain_name: 'api.example.org' }, /domain_name and certificate_arn must be set together/],
    [{ domain_name: 'https://api.example.org', certificate_arn }, /domain_name must be a host name/],
    [{ domain_name: 'api.example.org', certificate_arn: 'mine' }, /certificate_arn must be the ARN/],
  ])('is refused with a sentence: %j', (context, sentence) => {
    expect(() => config(context)).toThrow(sentence);
  });

  test('decides where the API answers, who hears of alarms and how long logs are kept', () => {
    const { platform } = synthesizeOnce({
      validate: false,
      context: {
        domain_name: 'api.example.org',
        certificate_arn,
        alarm_email: 'ops@example.org',
        log_retention_days: 7,
      },
    });
    expect(ofType(platform, 'AWS::ApiGatewayV2::DomainName')[0]?.[1].Properties.DomainName).toBe(
      'api.example.org',
    );
    expect(ofType(platform, 'AWS::ApiGatewayV2::ApiMapping')).toHaveLength(1);
    const http = ofType(platform, 'AWS::ApiGatewayV2::Api').find(
      ([, api]) => api.Properties.ProtocolType === 'HTTP',
    );
    // Its other address would answer without the certificate people were given.
    expect(http?.[1].Properties.DisableExecuteApiEndpoint).toBe(true);

    expect(ofType(platform, 'AWS::SNS::Subscription')[0]?.[1].Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.org',
    });
    const kept = ofType(platform, 'AWS::Logs::LogGroup').map(
      ([, group]) => group.Properties.RetentionInDays as number,
    );
    expect(new Set(kept)).toEqual(new Set([7]));
  });
});
