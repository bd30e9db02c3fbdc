import * as v from 'valibot';
import { type Requirement, scopeOf } from '../route.ts';
import type { Actor, Principal } from '../actor.ts';
import { type Authorized, type Reread, ScopedOrg, ScopedProject } from '../scope.ts';
import type { Clock } from '../clock.ts';
import { environment } from '../environment.ts';
import { Refusal, refuse } from '../errors.ts';
import { authorizationCache } from './authorization-cache.ts';
import { grantOfAccount, grantsOfUser } from './grants.ts';
import { orgKey, projectKey, serviceAccountKey, signingKey, userKey } from '../data/keys.ts';
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
  if (!id.success) throw refuse(`${scope as 'project' | 'org'}.unknown`);
  const reread = async (alongside: Key[]): Promise<Reread> => {
    const { item, others } = await authorizationCache.readAgain(principalKey(presented), alongside, now);
    return { grants: principalOf(token, item).grants, items: others };
  };
  const decide = async (after?: number): Promise<Authorized> => {
    const [principalItem, signingItem, placeItem] = await authorizationCache.read(keys, now, after);
    const principal = principalOf(token, principalItem);
    const signing = v.parse(v.optional(SigningState), signingItem);
    if (token.keyId !== undefined && !isLiveKey(token.keyId, signing, now())) throw refuse('auth.invalid');
    const admitted = { ...principal, reread };
    if (requirement === 'signed_in') return admitted;
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
  scope: ReturnType<typeof scopeOf>,
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

function placeOf(scope: ReturnType<typeof scopeOf>, id: string | undefined): Key | undefined {
  if (id === undefined) return undefined;
  return scope === 'project' ? projectKey(id.toLowerCase()) : orgKey(id.toLowerCase());
}

function principalKey(token: PresentedToken): Key {
  return token.kind === 'user' ? userKey(token.id) : serviceAccountKey(token.id);
}

function principalOf(token: VerifiedToken, item: Record<string, unknown> | undefined): Principal {
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
