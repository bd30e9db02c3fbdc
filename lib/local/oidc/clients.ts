import type { ClientMetadata } from 'oidc-provider';
import { CLI_CALLBACKS, CLI_CLIENT_ID, CONSOLE_DEV_SERVER } from '../../../sdk/sign-in/callbacks.ts';

/** What access tokens are for: their `aud`, and the scope that asks for it. */
export const API_AUDIENCE = 'urn:gpuaas:api';
export const API_SCOPE = 'api';

export const CONSOLE_CLIENT_ID = 'gpuaas-console';

/** Both keep no secret: what runs in a browser or on somebody's laptop could not. PKCE stands in for it. */
export function clientsAt(url: string): ClientMetadata[] {
  return [
    {
      client_id: CONSOLE_CLIENT_ID,
      client_name: 'GPUaaS console',
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [`${url}/console/callback`, `${CONSOLE_DEV_SERVER}/callback`],
      post_logout_redirect_uris: [`${url}/console`, `${CONSOLE_DEV_SERVER}/`],
    },
    {
      client_id: CLI_CLIENT_ID,
      client_name: 'GPUaaS command line',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [...CLI_CALLBACKS],
    },
  ];
}
