import * as v from 'valibot';
import { PLATFORM } from '../platform/data/keys.ts';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import type { Place } from '../platform/permissions.ts';
import { placeOfTopic } from './keys.ts';

/** Who a ticket was given to, where what they may see can be taken from them again. */
export const TicketHolder = v.object({
  kind: v.picklist(['user', 'service_account', 'platform_team']),
  id: v.string(),
  /** An administrator of the whole platform, or whoever holds its AWS credentials: that comes with the deployment. */
  everywhere: v.boolean(),
});

export type TicketHolder = v.InferOutput<typeof TicketHolder>;

/** What a connection may follow, and for whom. */
export const Admission = v.object({
  topic: v.string(),
  holder: v.optional(TicketHolder),
  /** The organisation of the project that is followed. */
  org_id: v.optional(textOf<OrgId>()),
});

export type Admission = v.InferOutput<typeof Admission>;

/** The place whose events are followed. */
export function placeFollowed({ topic, org_id }: Admission): Place {
  const place = placeOfTopic(topic);
  return place === PLATFORM ? {} : { org_id, project_id: place as ProjectId };
}

/** As many as one person or service account may have open at once, in all projects together. */
export const CONNECTIONS_MAX = 20;

/** Lets its bearer open one connection, once, for one topic. Browsers cannot sign a WebSocket's first request. */
export interface Ticket {
  admission: Admission;
  /** Returned once and not stored; the table has only its hash. */
  secret: string;
  expiresAt: Date;
}

export const TICKET_SECONDS = 5 * 60;

export const TICKET_BYTES = 32;

/** The secret's bytes as base64url. */
export const TicketSecret = v.pipe(v.string(), v.regex(/^[\w-]{43}$/));
