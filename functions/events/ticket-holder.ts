import type { Context } from '../platform/context.ts';
import { judge } from '../platform/permissions.ts';
import type { TicketHolder } from './ticket.ts';
import { refuse } from './problems.ts';

/** Kept with the connection, so that it ends when its holder may no longer read what it follows. */
export function holderOf({ actor: { kind, id }, grants }: Context): TicketHolder {
  switch (kind) {
    case 'platform_team':
      return { kind, id, everywhere: true };
    case 'user':
    case 'service_account':
      return { kind, id, everywhere: judge(grants, 'event.read', {}) === 'allowed' };
    default:
      throw refuse('permission.denied');
  }
}
