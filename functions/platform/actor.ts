import type { NodeId, ServiceAccountId, UserId } from './ids.ts';
import type { Grant } from './permissions.ts';

/** Who acts. Carried to the audit, the events and the log, so late work still knows who asked. */
export type Actor =
  | { kind: 'user'; id: UserId; email?: string }
  | { kind: 'service_account'; id: ServiceAccountId }
  /** A host, by its agent. */
  | { kind: 'node'; id: NodeId }
  | { kind: 'platform_team'; id: string }
  /** The platform itself, and which part of it: nobody asked. */
  | { kind: 'platform'; id: string }
  | { kind: 'anonymous'; id: 'anonymous' };

export const ANONYMOUS: Actor = { kind: 'anonymous', id: 'anonymous' };

/** Why no address of a person is known: what their token says is not shown to be theirs, is no address, or is missing. */
export type WithoutEmail = 'unverified' | 'unreadable' | 'missing' | 'untold';

/** An actor whose token was verified, with the grants it holds now. */
export interface Principal {
  actor: Actor;
  grants: Grant[];
  /** For people whose address is not known; `untold` where their issuer tells none of anybody. */
  withoutEmail?: WithoutEmail;
}

/** `user:<id>`, as the audit and events name an actor. */
export function nameActor({ kind, id }: Actor): string {
  return kind === 'anonymous' ? kind : `${kind}:${id}`;
}
