import { hash } from 'node:crypto';

/** The same for everyone; it changes only with a deployment, and then a host should not wait long for it. */
export const cachedBy = (text: string | Buffer): Record<string, string> => ({
  'cache-control': 'public, max-age=300',
  etag: `"${hash('sha256', text, 'base64url')}"`,
});
