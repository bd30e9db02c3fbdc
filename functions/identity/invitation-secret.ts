import { createHash, randomBytes } from 'node:crypto';

/** The token is told once, to whoever invites; what is kept cannot be turned back into it. */
export function makeInvitationToken(): { token: string; tokenHash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: hashInvitationToken(token) };
}

// No salt and no stretching: 256 random bits are beyond guessing.
export function hashInvitationToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
