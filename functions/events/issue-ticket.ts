import { randomBytes } from 'node:crypto';
import { secondsAfter } from '../platform/clock.ts';
import type { Write } from '../platform/data/commit.ts';
import { insertTicket } from './connection-store.ts';
import { type Admission, TICKET_BYTES, TICKET_SECONDS } from './ticket.ts';

/** A new ticket for a topic, valid once the write is committed. */
export function issueTicket(admission: Admission, now: Date): { secret: string; write: Write } {
  const secret = randomBytes(TICKET_BYTES).toString('base64url');
  const expiresAt = secondsAfter(now, TICKET_SECONDS);
  return { secret, write: insertTicket({ admission, secret, expiresAt }) };
}
