import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { DataStack } from '../../lib/data-stack.ts';
import { CLI_CALLBACKS } from '../../sdk/sign-in/callbacks.ts';
import { ofType, readTemplates, type Resource, type Resources, synthesizedApp } from './synthesized.ts';

const { data, platform, outdir } = synthesizedApp();

/** The data stack alone: the others take their time. */
const dataWith = (context: Record<string, unknown>): Resources =>
  Template.fromStack(
    new DataStack(new App({ context: { ...cdk.context, ...context } }), 'GpuaasData', {}),
  ).toJSON()['Resources'] as Resources;

const only = (resources: Resources, type: string): Resource => {
  const [[, resource] = [], ...others] = ofType(resources, type);
  expect(others).toEqual([]);
  if (!resource) throw new Error(`There is no ${type}.`);
  return resource;
};

const clientsOf = (resources: Resources): Record<string, Resource['Properties']> =>
  Object.fromEntries(
    ofType(resources, 'AWS::Cognito::UserPoolClient').map(([id, { Properties }]) => [
      id.replace(/^PeoplePool(\w+)[0-9A-F]{8}$/, '$1'),
      { id, ...Properties },
    ]),
  );

describe('the sign-in of a deployment', () => {
  const clients = clientsOf(data);

  test('has pages, and a style for each client, without which they do not open', () => {
    const { Properties } = only(data, 'AWS::Cognito::UserPoolDomain');
    expect(Properties.ManagedLoginVersion).toBe(2);
    const styles = ofType(data, 'AWS::Cognito::ManagedLoginBranding').map(([, style]) => style.Properties);
    expect(styles).toEqual(
      Object.values(clients).map(({ id, UserPoolId }) => ({
        ClientId: { Ref: id },
        UserPoolId,
        UseCognitoProvidedValues: true,
      })),
    );
    for (const { UserPoolId } of Object.values(clients)) expect(Properties.UserPoolId).toEqual(UserPoolId);
  });

  test('has an address that is nobody else’s and that Cognito allows', () => {
    const { Domain } = only(data, 'AWS::Cognito::UserPoolDomain').Properties;
    const uuid = '4c0f2a10-1b2c-11f0-9d3e-0a1b2c3d4e5f';
    const stackId = `arn:aws:cloudformation:eu-west-1:123456789012:stack/GpuaasData/${uuid}`;
    const prefix = String(resolve(Domain, { 'AWS::AccountId': '123456789012', 'AWS::StackId': stackId }));
    expect(prefix).toBe('gpuaas-123456789012-4c0f2a10');
    expect(prefix).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
    expect(prefix).not.toMatch(/aws|amazon|cognito/);
  });

  test('brings the command line back to its fixed ports, and the console to where it is developed', () => {
    expect(clients).toMatchObject({
      CommandLine: { CallbackURLs: CLI_CALLBACKS },
      Console: {
        CallbackURLs: ['http://127.0.0.1:5173/callback'],
        LogoutURLs: ['http://127.0.0.1:5173/'],
      },
    });
    // Over http, Cognito takes localhost, 127.0.0.1 and [::1] alone.
    for (const callback of CLI_CALLBACKS) expect(callback).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  });

  test('brings the console back to its own origin alone, if that is told', () => {
    const told = dataWith({ console_origin: 'https://console.example.org' });
    expect(clientsOf(told)['Console']).toMatchObject({
      CallbackURLs: ['https://console.example.org/callback'],
      LogoutURLs: ['https://console.example.org/'],
    });
  });

  test.each(Object.keys(clientsOf(data)))('gives %s codes for its tokens, and can take them back', (name) => {
    expect(clients[name]).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      ExplicitAuthFlows: ['ALLOW_USER_SRP_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      EnableTokenRevocation: true,
      PreventUserExistenceErrors: 'ENABLED',
      AccessTokenValidity: 15,
    });
  });

  test('is believed by the API for both clients', () => {
    const [, identity] =
      ofType(platform, 'AWS::Lambda::Function').find(([, fn]) =>
        String(fn.Properties.FunctionName).endsWith('-identity-api'),
      ) ?? [];
    const issuers = JSON.stringify(identity?.Properties.Environment.Variables.OIDC_ISSUERS);
    for (const { id } of Object.values(clients)) expect(issuers).toContain(JSON.stringify({ Ref: id }));
  });

  test('asks a function for the address in access tokens, which the pool alone may call', () => {
    const [[poolId, pool] = []] = ofType(data, 'AWS::Cognito::UserPool');
    const [[fnId, fn] = []] = ofType(data, 'AWS::Lambda::Function');
    const arn = { 'Fn::GetAtt': [fnId, 'Arn'] };
    expect(pool?.Properties.LambdaConfig).toEqual({
      PreTokenGenerationConfig: { LambdaArn: arn, LambdaVersion: 'V2_0' },
    });
    expect(only(data, 'AWS::Lambda::Permission').Properties).toEqual({
      Action: 'lambda:InvokeFunction',
      FunctionName: arn,
      Principal: 'cognito-idp.amazonaws.com',
      SourceArn: { 'Fn::GetAtt': [poolId, 'Arn'] },
    });
    // Cognito gives up after five seconds.
    expect(fn?.Properties).toMatchObject({
      FunctionName: 'GpuaasData-identity-add-email-to-token',
      Timeout: 5,
    });
  });

  test('keeps an address until another one is shown to be theirs', () => {
    expect(only(data, 'AWS::Cognito::UserPool').Properties.UserAttributeUpdateSettings).toEqual({
      AttributesRequireVerificationBeforeUpdate: ['email'],
    });
  });

  test('has threat protection in the plan that includes it, and in no other', () => {
    const { Properties } = only(data, 'AWS::Cognito::UserPool');
    expect(Properties).toMatchObject({ UserPoolTier: 'ESSENTIALS' });
    expect(Properties).not.toHaveProperty('UserPoolAddOns');
    expect(only(dataWith({ cognito_plan: 'plus' }), 'AWS::Cognito::UserPool').Properties).toMatchObject({
      UserPoolTier: 'PLUS',
      UserPoolAddOns: { AdvancedSecurityMode: 'ENFORCED' },
    });
  });

  test('tells what a person needs to sign in', () => {
    const { GpuaasData } = readTemplates(outdir);
    expect(Object.keys(GpuaasData?.Outputs ?? {})).toEqual(
      expect.arrayContaining(['Issuer', 'SignInUrl', 'CommandLineClientId', 'ConsoleClientId', 'UserPoolId']),
    );
  });

  test('is not made where the deployment brings an issuer of its own', () => {
    const own = dataWith({ oidc_issuer: 'https://id.example.org' });
    const made = Object.values(own).filter(({ Type }) => /^AWS::(Cognito|Lambda)::/.test(Type));
    expect(made).toEqual([]);
  });
});

/** What CloudFormation makes of the functions that a name is made with. */
function resolve(value: unknown, parameters: Record<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [[name, args] = []] = Object.entries(value);
  if (name === 'Ref') return parameters[String(args)];
  const [first, second] = (args as unknown[]).map((each) =>
    Array.isArray(each) ? each.map((one) => resolve(one, parameters)) : resolve(each, parameters),
  );
  if (name === 'Fn::Join') return (second as string[]).join(String(first));
  if (name === 'Fn::Split') return String(second).split(String(first));
  if (name === 'Fn::Select') return (second as string[])[Number(first)];
  throw new Error(`${name} is not known here.`);
}
