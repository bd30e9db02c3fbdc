import { environment } from '../platform/environment.ts';
import { document, query } from '../platform/http/endpoint.ts';
import { bootstrapScript } from './bootstrap.ts';
import { cachedBy } from './caching.ts';

export const getBootstrapScript = query(
  {
    summary: 'Get the shell script that makes a machine a host of this platform',
    media: 'text/x-shellscript; charset=utf-8',
  },
  () => {
    const text = bootstrapScript(environment('TOKEN_ISSUER'));
    return document(text, cachedBy(text));
  },
);
