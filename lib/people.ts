import { Aws, CfnOutput, Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  FeaturePlan,
  LambdaVersion,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  StandardThreatProtectionMode,
  UserPool,
  type UserPoolClient,
  UserPoolOperation,
  type UserPoolProps,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { CLI_CALLBACKS, CONSOLE_DEV_SERVER } from '../sdk/sign-in/callbacks.ts';
import { acknowledge } from './acknowledge.ts';
import { configOf, type OidcIssuer } from './config.ts';
import { PlatformFunction } from './platform-function.ts';

/** The user pool of a deployment that brings no issuer of its own. */
export class People extends Construct {
  readonly oidc: OidcIssuer;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { consoleOrigin = CONSOLE_DEV_SERVER } = configOf(this);
    const pool = this.pool();
    const domain = pool.addDomain('Domain', {
      cognitoDomain: { domainPrefix: unusedPrefix() },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    const console = this.client(pool, 'Console', [`${consoleOrigin}/callback`], [`${consoleOrigin}/`]);
    const commandLine = this.client(pool, 'CommandLine', CLI_CALLBACKS);
    this.oidc = {
      issuer: pool.userPoolProviderUrl,
      jwks_uri: `${pool.userPoolProviderUrl}/.well-known/jwks.json`,
      // Cognito's access tokens name the client where others name the audience, and carry no type.
      audience: [console.userPoolClientId, commandLine.userPoolClientId],
      audience_claim: 'client_id',
      algorithms: ['RS256'],
      typ: null,
      // By the trigger below.
      tells_email: true,
    };
    const outputs = {
      Issuer: this.oidc.issuer,
      SignInUrl: domain.baseUrl(),
      CommandLineClientId: commandLine.userPoolClientId,
      ConsoleClientId: console.userPoolClientId,
      UserPoolId: pool.userPoolId,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(Stack.of(this), name, { value });
  }

  private pool(): UserPool {
    const { deletionProtection } = configOf(this);
    const pool = new UserPool(this, 'Pool', {
      userPoolName: `${Stack.of(this).stackName}-people`,
      signInAliases: { email: true },
      // An address counts as somebody's until they have shown that another one is theirs.
      keepOriginal: { email: true },
      selfSignUpEnabled: false,
      mfa: Mfa.REQUIRED,
      mfaSecondFactor: { sms: false, otp: true },
      passwordPolicy: {
        minLength: 14,
        requireDigits: true,
        requireLowercase: true,
        requireUppercase: true,
        requireSymbols: true,
      },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      ...this.plan(),
      deletionProtection,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    pool.addTrigger(
      UserPoolOperation.PRE_TOKEN_GENERATION_CONFIG,
      new PlatformFunction(this, 'AddEmailToToken', {
        entry: 'functions/identity/add-email-to-token.ts',
        description: 'Adds the e-mail address of whoever signs in to their access token.',
        // Cognito waits no longer.
        timeoutSeconds: 5,
      }),
      LambdaVersion.V2_0,
    );
    return pool;
  }

  private plan(): Pick<UserPoolProps, 'featurePlan' | 'standardThreatProtectionMode'> {
    if (configOf(this).cognitoPlan === 'plus') {
      return {
        featurePlan: FeaturePlan.PLUS,
        standardThreatProtectionMode: StandardThreatProtectionMode.FULL_FUNCTION,
      };
    }
    acknowledge(
      this,
      'AwsSolutions-COG8',
      'Threat protection is part of a plan that costs more for each person; -c cognito_plan=plus has it.',
    );
    return { featurePlan: FeaturePlan.ESSENTIALS };
  }

  /** Keeps no secret: what runs in a browser or on somebody's laptop could not. PKCE stands in for it. */
  private client(pool: UserPool, id: string, callbackUrls: string[], logoutUrls?: string[]): UserPoolClient {
    const client = pool.addClient(id, {
      generateSecret: false,
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      authFlows: { userSrp: true },
      accessTokenValidity: Duration.minutes(15),
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls,
        ...(logoutUrls && { logoutUrls }),
      },
    });
    // The sign-in pages of a client without a style do not open.
    new CfnManagedLoginBranding(this, `${id}Style`, {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    return client;
  }
}

/**
 * The name of the sign-in pages, which no other account in the region may have, nor an earlier deployment that was not
 * removed. Cognito allows neither its own name nor that of AWS in it.
 */
function unusedPrefix(): string {
  const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `gpuaas-${Aws.ACCOUNT_ID}-${Fn.select(0, Fn.split('-', stackUuid))}`;
}
