import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The token is told once, to whoever asked for it; what is kept cannot be turned back into it. */
export function makeOneTimeToken(): { token: string; tokenHash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: hashOneTimeToken(token) };
}

// No salt and no stretching: 256 random bits are beyond guessing.
export function hashOneTimeToken(token: string): string {
  return hash('sha256', token);
}

/** Whether the token is the one whose hash was kept, in the same time whatever the answer. */
export function isOneTimeToken(token: string, keptHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOneTimeToken(token)), Buffer.from(keptHash));
}
