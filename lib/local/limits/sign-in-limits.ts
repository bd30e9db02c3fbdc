import type { Resource } from './deployed.ts';
import type { Limit } from './limit.ts';

const CLIENT = 'AWS::Cognito::UserPoolClient';
const POOL = 'AWS::Cognito::UserPool';
const DOMAINS =
  'https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-assign-domain.html';
const CALLBACKS =
  'https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_CreateUserPoolClient.html';
const TOKENS =
  'https://docs.aws.amazon.com/cognito/latest/developerguide/user-pool-lambda-pre-token-generation.html';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

const usesOAuth = ({ properties }: Resource): boolean =>
  properties['AllowedOAuthFlowsUserPoolClient'] === true;

const domains: Limit = {
  name: 'domain of a user pool',
  source: DOMAINS,
  check: (deployed) => {
    const withDomain = new Set(
      deployed
        .ofType('AWS::Cognito::UserPoolDomain')
        .map(({ properties }) => String(properties['UserPoolId'])),
    );
    return deployed
      .ofType(CLIENT)
      .filter((client) => usesOAuth(client) && !withDomain.has(String(client.properties['UserPoolId'])))
      .map(
        ({ name }) =>
          `${name}: its user pool has no domain to sign in at. Add an AWS::Cognito::UserPoolDomain for the pool.`,
      );
  },
};

const domainNames: Limit = {
  name: 'name of a user pool’s domain',
  source: DOMAINS,
  check: (deployed) =>
    deployed.ofType('AWS::Cognito::UserPoolDomain').flatMap(({ name, properties }) => {
      if (properties['CustomDomainConfig'] !== undefined) return [];
      const prefix = String(properties['Domain']);
      if (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(prefix) && !/aws|amazon|cognito/.test(prefix))
        return [];
      return [
        `${name}: ${prefix} cannot be a prefix of a domain. Use small letters, digits and -, without aws, amazon or cognito.`,
      ];
    }),
};

const callbacks: Limit = {
  name: 'addresses to return to',
  source: CALLBACKS,
  check: (deployed) =>
    deployed.ofType(CLIENT).flatMap(({ name, properties }) =>
      ['CallbackURLs', 'LogoutURLs']
        .flatMap((property) => (properties[property] ?? []) as string[])
        .flatMap((address) => {
          const fault = faultOf(address);
          return fault === undefined ? [] : [`${name}: ${address} ${fault}`];
        }),
    ),
};

const flows: Limit = {
  name: 'OAuth flows',
  source: CALLBACKS,
  check: (deployed) =>
    deployed
      .ofType(CLIENT)
      .filter(usesOAuth)
      .flatMap(({ name, properties }) => {
        const allowed: string[] = properties['AllowedOAuthFlows'] ?? [];
        const forMachines = allowed.includes('client_credentials');
        const forPeople = allowed.includes('code') || allowed.includes('implicit');
        const addresses: string[] = properties['CallbackURLs'] ?? [];
        const first = properties['DefaultRedirectURI'];
        const faults = [
          allowed.length === 0 && 'it may use OAuth, and no flow is allowed',
          (properties['AllowedOAuthScopes'] ?? []).length === 0 &&
            'it may use OAuth, and no scope is allowed',
          forMachines && forPeople && 'client_credentials cannot stand with another flow: make two clients',
          forMachines && properties['GenerateSecret'] !== true && 'client_credentials needs a secret',
          forPeople && addresses.length === 0 && 'nobody can return from signing in: set CallbackURLs',
          first !== undefined &&
            !addresses.includes(first) &&
            'DefaultRedirectURI is not one of CallbackURLs',
        ];
        return faults.filter((fault) => fault !== false).map((fault) => `${name}: ${fault}.`);
      }),
};

const tokenTriggers: Limit = {
  name: 'version of a token trigger',
  source: TOKENS,
  check: (deployed) =>
    deployed
      .ofType(POOL)
      .filter(({ properties }) => properties['UserPoolTier'] === 'LITE')
      .filter(({ properties }) =>
        ['V2_0', 'V3_0'].includes(properties['LambdaConfig']?.PreTokenGenerationConfig?.LambdaVersion),
      )
      .map(({ name }) => `${name}: the Lite plan does not change access tokens. Use Essentials or Plus.`),
};

/** Cognito compares addresses letter by letter, so a port that is made up at run time is never found. */
function faultOf(address: string): string | undefined {
  if (!URL.canParse(address)) return 'is not an absolute address.';
  const { protocol, hostname, port, hash } = new URL(address);
  if (hash !== '' || address.endsWith('#')) return 'has a fragment, which Cognito does not take.';
  if (protocol !== 'http:') return undefined;
  if (!LOOPBACK.has(hostname)) return 'must be https: Cognito takes http only on this machine.';
  if (port === '')
    return 'names no port, and Cognito compares addresses exactly. Write the port it listens on.';
  return undefined;
}

export const signInLimits = [domains, domainNames, callbacks, flows, tokenTriggers];
