import { environment } from '../platform/environment.ts';
import { document, query } from '../platform/http/endpoint.ts';
import { cloudInit } from './bootstrap.ts';
import { cachedBy } from './caching.ts';

export const getCloudInit = query(
  {
    summary: 'Get the cloud-init user data for a new host, with places for the node and its join token',
    media: 'application/yaml',
  },
  () => {
    const text = cloudInit(environment('TOKEN_ISSUER'));
    return document(text, cachedBy(text));
  },
);
