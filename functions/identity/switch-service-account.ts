import type { DomainEvent } from '../platform/events.ts';
import { command, type Endpoint } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import type { Giver } from './giving.ts';
import { findAccountAndGiver, saveServiceAccount } from './service-account-store.ts';
import {
  type ServiceAccount,
  ServiceAccountParams,
  ServiceAccountView,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';

interface Switch {
  summary: string;
  action: string;
  /** Other than those of every change. */
  refusals?: readonly string[];
  decide: (account: ServiceAccount, giver: Giver) => ServiceAccount;
  tell: (account: ServiceAccount) => DomainEvent;
}

/** What disabling a service account and enabling it again have in common. */
export const switchServiceAccount = ({ summary, action, refusals = [], decide, tell }: Switch): Endpoint =>
  command(
    {
      summary,
      action,
      params: ServiceAccountParams,
      reply: ServiceAccountView,
      refusals: ['service_account.unknown', ...refusals, 'precondition.failed'],
    },
    async (ctx, { params }) => {
      const { account, giver } = await findAccountAndGiver(ctx, params.service_account_id);
      const stale = requireVersion(account, ctx.ifMatch);
      const after = decide(account, giver);
      return {
        subject: subjectOf(account),
        before: viewServiceAccount(account),
        after: viewServiceAccount(after),
        writes: [saveServiceAccount(account, after, stale)],
        events: [tell(after)],
        reply: viewServiceAccount(after),
      };
    },
  );
