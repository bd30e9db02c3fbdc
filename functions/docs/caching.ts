/** Documents are the same for everyone and change only with a deployment. */
export const CACHED = { 'cache-control': 'public, max-age=300' };
