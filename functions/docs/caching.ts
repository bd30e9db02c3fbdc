/** What documents say is the same for everybody and changes with a deployment only. */
export const CACHED = { 'cache-control': 'public, max-age=300' };
