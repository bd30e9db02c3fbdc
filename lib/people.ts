import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  FeaturePlan,
  Mfa,
  OAuthScope,
  StandardThreatProtectionMode,
  UserPool,
  type UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { OidcIssuer } from './config.ts';

/** The user pool of a deployment that brings no issuer of its own. */
export class People extends Construct {
  readonly oidc: OidcIssuer;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const pool = new UserPool(this, 'Pool', {
      userPoolName: `${Stack.of(this).stackName}-people`,
      signInAliases: { email: true },
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
      featurePlan: FeaturePlan.PLUS,
      standardThreatProtectionMode: StandardThreatProtectionMode.FULL_FUNCTION,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const client = this.client(pool);
    this.oidc = {
      issuer: pool.userPoolProviderUrl,
      jwks_uri: `${pool.userPoolProviderUrl}/.well-known/jwks.json`,
      // Cognito's access tokens name the client where others name the audience, and carry no type.
      audience: client.userPoolClientId,
      audience_claim: 'client_id',
      algorithms: ['RS256'],
      typ: null,
    };
    new CfnOutput(this, 'ClientId', { value: client.userPoolClientId });
    new CfnOutput(this, 'PoolId', { value: pool.userPoolId });
  }

  /** For the console and the command line: public, with PKCE over a loopback redirect. */
  private client(pool: UserPool): UserPoolClient {
    return pool.addClient('Client', {
      generateSecret: false,
      preventUserExistenceErrors: true,
      accessTokenValidity: Duration.minutes(15),
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: ['http://127.0.0.1/callback'],
      },
    });
  }
}
