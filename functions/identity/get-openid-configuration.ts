import * as v from 'valibot';
import { document, query } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { ASSERTION_GRANT, TOKEN_PATHS } from './token.ts';

const Texts = v.array(v.string());

/** RFC 8414 §2; the names OpenID Connect Discovery §3 asks for besides are there for clients that insist on them. */
const OpenidConfiguration = v.object({
  issuer: v.string(),
  jwks_uri: v.string(),
  token_endpoint: v.string(),
  grant_types_supported: Texts,
  response_types_supported: Texts,
  subject_types_supported: Texts,
  token_endpoint_auth_methods_supported: Texts,
  id_token_signing_alg_values_supported: Texts,
  service_documentation: v.string(),
});

export const getOpenidConfiguration = query(
  {
    summary: 'Get the metadata of the issuer of service account tokens (RFC 8414)',
    reply: OpenidConfiguration,
  },
  () => {
    const issuer = environment('TOKEN_ISSUER');
    const configuration = {
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      token_endpoint: `${issuer}${TOKEN_PATHS[0]}`,
      grant_types_supported: [ASSERTION_GRANT],
      response_types_supported: [],
      subject_types_supported: ['public'],
      // The assertion is the grant; there is no client besides the account that made it.
      token_endpoint_auth_methods_supported: ['none'],
      id_token_signing_alg_values_supported: ['ES256'],
      service_documentation: `${issuer}/docs`,
    };
    return document(configuration, { 'cache-control': 'public, max-age=300' });
  },
);
