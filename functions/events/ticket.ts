import * as v from 'valibot';

/** Who a ticket was given to, where what they may see can be taken from them again. */
export const TicketHolder = v.object({
  kind: v.picklist(['user', 'service_account', 'platform_team']),
  id: v.string(),
  /** An administrator of the whole platform, or whoever holds its AWS credentials: that comes with the deployment. */
  everywhere: v.boolean(),
});

export type TicketHolder = v.InferOutput<typeof TicketHolder>;

/** What a connection may follow, and for whom. */
export interface Admission {
  topic: string;
  holder?: TicketHolder;
}

/** Lets its bearer open one connection, once, for one topic. Browsers cannot sign a WebSocket's first request. */
export interface Ticket extends Admission {
  /** Returned once and not stored; the table has only its hash. */
  secret: string;
  expiresAt: Date;
}

export const TICKET_SECONDS = 5 * 60;

export const TICKET_BYTES = 32;

/** The secret's bytes as base64url. */
export const TicketSecret = v.pipe(v.string(), v.regex(/^[\w-]{43}$/));
