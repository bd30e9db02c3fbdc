import * as v from 'valibot';
import { type Requirement, type Scope, scopeOf } from '../route.ts';
import type { Actor, Principal } from '../actor.ts';
import { type Authorized, type Reread, type ScopedNode, ScopedOrg, ScopedProject } from '../scope.ts';
import type { Clock } from '../clock.ts';
import { environment } from '../environment.ts';
import { Refusal, refuse } from '../errors.ts';
import { authorizationCache } from './authorization-cache.ts';
import { ForeignRequest } from './foreign-request.ts';
import { grantOfAccount, grantsOfUser } from './grants.ts';
import { grantOfNode } from './node-principal.ts';
import {
  nodePrincipalKey,
  orgKey,
  projectKey,
  serviceAccountKey,
  signingKey,
  userKey,
} from '../data/keys.ts';
import { type Grant, judge, type Permission } from '../permissions.ts';
import type { Key } from '../data/table.ts';
import { isLiveKey, SigningState } from './signing.ts';
import { findTokenKey } from './token-keys.ts';
import { type PresentedToken, readToken, type VerifiedToken, verifyToken } from './tokens.ts';

const Uuid = v.pipe(v.string(), v.uuid());

/**
 * Lets the call through or refuses it. Letting through takes one read when cold and none when warm; a refusal is
 * always given on what was just read, and takes the same whether the place is absent or somebody else's.
 */
export async function authorize(
  authorization: string | undefined,
  requirement: Exclude<Requirement, 'public' | 'iam'>,
  route: string,
  params: Record<string, unknown>,
  now: Clock,
): Promise<Authorized> {
  const presented = readToken(authorization);
  const scope = scopeOf(route);
  const id = v.safeParse(v.optional(Uuid), scope === 'platform' ? undefined : params[`${scope}_id`]);
  const placeKey = id.success ? placeOf(scope, id.output) : undefined;
  const keys = [principalKey(presented), signingKey(), ...(placeKey ? [placeKey] : [])];
  const isRemembered = authorizationCache.isRemembered(keys, now);
  const token = await verifyToken(presented, now(), (keyId) => findTokenKey(keyId, keys, now));
  if (!id.success) throw refuse(`${scope as Exclude<Scope, 'platform'>}.unknown`);
  const reread = async (alongside: Key[]): Promise<Reread> => {
    const { item, others } = await authorizationCache.readAgain(principalKey(presented), alongside, now);
    return { grants: principalOf(token, item).grants, items: others };
  };
  const decide = async (after?: number): Promise<Authorized> => {
    const [principalItem, signingItem, placeItem] = await authorizationCache.read(keys, now, after);
    const { node, ...principal } = principalOf(token, principalItem);
    const signing = v.parse(v.optional(SigningState), signingItem);
    if (token.keyId !== undefined && !isLiveKey(token.keyId, signing, now())) throw refuse('auth.invalid');
    const admitted = { ...principal, reread };
    if (requirement === 'signed_in') return admitted;
    if (scope === 'node')
      return { ...admitted, node: requireSelf(principal, node, requirement, id.output ?? '') };
    return { ...admitted, ...requirePlace(principal.grants, requirement, scope, placeItem) };
  };
  if (!isRemembered) return decide();
  try {
    return await decide();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // What was taken away may work for a few seconds more; what was given works at once.
    return decide(authorizationCache.reads);
  }
}

function requirePlace(
  grants: Grant[],
  permission: Permission,
  scope: Exclude<Scope, 'node'>,
  item: Record<string, unknown> | undefined,
): Pick<Authorized, 'project' | 'org'> {
  if (scope === 'platform') {
    if (judge(grants, permission, {}) !== 'allowed') throw refuse('permission.denied');
    return {};
  }
  if (!item) throw refuse(`${scope}.unknown`);
  const place =
    scope === 'project' ? { project: v.parse(ScopedProject, item) } : { org: v.parse(ScopedOrg, item) };
  const ids = place.project
    ? { org_id: place.project.org_id, project_id: place.project.id }
    : { org_id: place.org?.id };
  const verdict = judge(grants, permission, ids);
  if (verdict === 'invisible') throw refuse(`${scope}.unknown`);
  if (verdict === 'forbidden') throw refuse('permission.denied');
  return place;
}

/** The place of a node is the node itself: whoever asks there is read already, and nobody else reaches it. */
function requireSelf(
  { actor, grants }: Principal,
  node: ScopedNode | undefined,
  permission: Permission,
  id: string,
): ScopedNode {
  const asked = id.toLowerCase();
  const verdict = judge(grants, permission, { node_id: asked });
  if (verdict === 'forbidden') throw refuse('permission.denied');
  if (verdict === 'allowed' && node) return node;
  throw actor.kind === 'node' ? new ForeignRequest(actor, asked) : refuse('node.unknown');
}

function placeOf(scope: Scope, id: string | undefined): Key | undefined {
  if (id === undefined || scope === 'node') return undefined;
  return scope === 'project' ? projectKey(id.toLowerCase()) : orgKey(id.toLowerCase());
}

const PRINCIPAL_KEYS = { user: userKey, service_account: serviceAccountKey, node: nodePrincipalKey };

const principalKey = ({ kind, id }: PresentedToken): Key => PRINCIPAL_KEYS[kind](id);

function principalOf(
  token: VerifiedToken,
  item: Record<string, unknown> | undefined,
): Principal & { node?: ScopedNode } {
  if (token.kind === 'node') {
    const known = grantOfNode(item, token.heldKey);
    if (!known) throw refuse('auth.revoked');
    return { actor: { kind: 'node', id: token.id }, grants: [known.grant], node: known.node };
  }
  if (token.kind === 'service_account') {
    const grant = grantOfAccount(item);
    if (!grant) throw refuse('auth.revoked');
    return { actor: { kind: 'service_account', id: token.id }, grants: [grant] };
  }
  const actor: Actor = { kind: 'user', id: token.id, ...(token.email && { email: token.email }) };
  const grants = grantsOfUser(item);
  return {
    actor,
    grants: isPlatformAdmin(token) ? [{ role: 'platform_admin' }, ...grants] : grants,
    ...(token.withoutEmail && { withoutEmail: token.withoutEmail }),
  };
}

// The first administrators come from the deployment, not from the table: there is nobody yet to appoint them.
function isPlatformAdmin(token: VerifiedToken): boolean {
  return token.kind === 'user' && environment('PLATFORM_ADMINS').split(',').includes(token.subject);
}
