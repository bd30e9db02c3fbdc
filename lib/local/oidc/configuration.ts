import type { JsonWebKey } from 'node:crypto';
import { errors, type Configuration } from 'oidc-provider';
import type { Journal } from '../journal/journal.ts';
import { createAdapterFactory } from './adapter.ts';
import { API_AUDIENCE, API_SCOPE, clientsAt } from './clients.ts';
import { subjectOf, type Person } from './people.ts';
import { devicePages, logoutPages, renderError } from './provider-pages.ts';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** As long as the tokens of service accounts. */
const ACCESS_TOKEN_SECONDS = 15 * MINUTE;

export interface ConfigurationOptions {
  url: string;
  people: readonly Person[];
  journal: Journal;
  signingKey: JsonWebKey;
  cookieKey: string;
  interactionPath(uid: string): string;
}

export function configurationOf(options: ConfigurationOptions): Configuration {
  const bySubject = new Map(options.people.map((person) => [subjectOf(person.email), person]));
  const claimsOf = ({ email, name }: Person) => ({ email, email_verified: true, name });

  return {
    adapter: createAdapterFactory(options.journal),
    clients: clientsAt(options.url),
    jwks: { keys: [options.signingKey] },
    cookies: { keys: [options.cookieKey] },
    findAccount: (_ctx, subject) => {
      const person = bySubject.get(subject);
      if (person === undefined) return undefined;
      return { accountId: subject, claims: () => ({ sub: subject, ...claimsOf(person) }) };
    },

    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // There is no userinfo endpoint to fetch the rest from: access tokens are for the API alone.
    conformIdTokenClaims: false,
    scopes: ['openid', 'offline_access'],
    extraTokenClaims: (_ctx, token) => {
      const person = 'accountId' in token ? bySubject.get(token.accountId) : undefined;
      return person && { email: person.email, email_verified: true };
    },

    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: ['none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clientBasedCORS: (_ctx, origin, client) =>
      client.redirectUris?.some((uri) => new URL(uri).origin === origin) === true,
    // Cognito gives one without being asked by `offline_access`, which it does not know.
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),

    interactions: { url: (_ctx, interaction) => options.interactionPath(interaction.uid) },
    renderError,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      userinfo: { enabled: false },
      deviceFlow: { enabled: true, ...devicePages },
      rpInitiatedLogout: { enabled: true, ...logoutPages },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API_AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== API_AUDIENCE) throw new errors.InvalidTarget();
          return {
            scope: API_SCOPE,
            audience: API_AUDIENCE,
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: MINUTE,
      DeviceCode: 10 * MINUTE,
      Interaction: 10 * MINUTE,
      IdToken: 15 * MINUTE,
      RefreshToken: 14 * DAY,
      Session: 14 * DAY,
      Grant: 14 * DAY,
    },
  };
}
