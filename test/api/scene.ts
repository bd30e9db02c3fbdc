import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { insertArtifact } from '../../functions/artifacts/save-artifact.ts';
import type { App, VersionEntry } from '../../functions/catalog/app.ts';
import { saveApp } from '../../functions/catalog/keep-release.ts';
import { FILE_MEDIA_TYPE } from '../../functions/content/file.ts';
import { insertInvitation } from '../../functions/identity/invitation-store.ts';
import { planInvitation } from '../../functions/identity/invitation.ts';
import { saveRoles } from '../../functions/identity/member-store.ts';
import { give, type MemberPlace } from '../../functions/identity/member.ts';
import { insertOrg } from '../../functions/identity/org-store.ts';
import { type Org, planOrg } from '../../functions/identity/org.ts';
import { insertProject } from '../../functions/identity/project-store.ts';
import { planProject, type Project } from '../../functions/identity/project.ts';
import { makeKeyPair } from '../../functions/identity/service-account-key-pair.ts';
import { insertServiceAccount } from '../../functions/identity/service-account-store.ts';
import { planServiceAccount, type ServiceAccount } from '../../functions/identity/service-account.ts';
import { nodeClaimant } from '../../functions/identity/claimant.ts';
import { findNodePrincipal } from '../../functions/identity/node-principal-store.ts';
import { signingKeyId } from '../../functions/identity/signing-key.ts';
import { platformKeys } from '../../functions/identity/signing-keys.ts';
import { findSigningState, publishKeys } from '../../functions/identity/signing-store.ts';
import { planToken } from '../../functions/identity/token.ts';
import { newcomer } from '../../functions/identity/user.ts';
import { makeOneTimeToken } from '../../functions/platform/auth/one-time-token.ts';
import { signJws } from '../../functions/platform/auth/sign-jws.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { addTo } from '../../functions/platform/data/counters.ts';
import { projectCounterKey, projectKey, signingKey } from '../../functions/platform/data/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Role } from '../../functions/platform/permissions.ts';
import { joined, planJoinToken, planPrincipal } from '../../functions/nodes/enrolment.ts';
import type { Inventory } from '../../functions/nodes/inventory.ts';
import { NODES_PARTITION, nodeKey } from '../../functions/nodes/keys.ts';
import { beginHeartbeats, insertNode, moveKey } from '../../functions/nodes/node-store.ts';
import { enrolled, type Node, planNode } from '../../functions/nodes/node.ts';
import { insertSelftest } from '../../functions/selftest/selftest-store.ts';
import { planSelftest } from '../../functions/selftest/selftest.ts';
import { fileUri, objectKeyOf, signatureKeyOf } from '../../functions/storage/repository.ts';
import type { PublicJwk } from '../../functions/platform/auth/token-shape.ts';
import { hash } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { ADMIN, type World } from './world.ts';
import { planArtifact } from '../artifacts/planned-artifact.ts';
import { policyOfTests, signFile } from '../artifacts/signed-file.ts';
import { plannedNode } from '../allocations/planned.ts';
import { planApp } from '../catalog/entitled.ts';
import { sampleInventory } from '../nodes/inventories.ts';
import { commitAgain } from '../commit-again.ts';

export interface Person {
  id: string;
  email: string;
  token: string;
}

/**
 * What calls are about, made with the domain's own rules and writes but not by calls: so it costs no caller's share
 * of requests, and no two calls under test meet in anything they touch.
 */
export function openScene(world: World) {
  const now = (): Date => new Date();
  const slug = (): string => `s-${newId()}`.slice(0, 40);

  async function person(subject = `somebody-${newId()}`): Promise<Person> {
    const email = `${subject}@example.com`;
    const token = await world.issuer.token(subject, { claims: { email, email_verified: true } });
    return { id: world.userId(subject), email, token };
  }

  async function project(org: Org): Promise<Project> {
    const planned = planProject(newId(), org.id, { name: 'A project', slug: slug() }, now());
    await commit(insertProject(planned));
    return planned;
  }

  return {
    slug,
    person,
    project,
    platformAdmin: () => person(ADMIN),
    /** An organisation, a project in it, and the person who administers both. */
    async place(): Promise<{ org: Org; project: Project; admin: Person }> {
      const org = planOrg(newId(), { name: 'An organisation', slug: slug() }, 1, now());
      const admin = await person();
      const before = newcomer(admin.id, admin.email);
      await commit([
        ...insertOrg(org),
        ...saveRoles(before, give(before, { org_id: org.id }, 'org_admin', now())),
      ]);
      return { org, project: await project(org), admin };
    },
    /** Somebody who holds a role there besides the admin. */
    async member(place: MemberPlace, role: Role): Promise<Person> {
      const somebody = await person();
      const before = newcomer(somebody.id, somebody.email);
      await commit(saveRoles(before, give(before, place, role, now())));
      return somebody;
    },
    async invitation(place: MemberPlace, email: string): Promise<{ id: string; token: string }> {
      const { token, tokenHash } = makeOneTimeToken();
      const by = { tokenHash, actor: 'user:somebody' };
      const invitation = planInvitation(newId(), { email, role: 'viewer', place }, by, now());
      await commit(insertInvitation(invitation));
      return { id: invitation.id, token };
    },
    async account(
      of: Project,
      status: ServiceAccount['status'] = 'active',
      abilities: Pick<ServiceAccount, 'role' | 'permissions'> = { role: 'app_operator' },
    ): Promise<ServiceAccount & { key_id: string; private_key_pem: string }> {
      const { publicJwk, privateKeyPem } = makeKeyPair();
      const key = { key_id: newId(), public_key_jwk: publicJwk, created_at: now().toISOString() };
      const wanted = { name: 'An account', slug: slug(), description: '' };
      const account = { ...planServiceAccount(wanted, abilities, of, newId(), key), status };
      await commit(insertServiceAccount(account));
      return { ...account, key_id: key.key_id, private_key_pem: privateKeyPem };
    },
    /** A node whose host has joined, or is yet to. */
    async node(
      more: Partial<Node> & { inventory?: Inventory; isPending?: boolean } = {},
    ): Promise<Node & { private_key_pem: string; public_jwk: PublicJwk; join_token: string }> {
      const { isPending = false, ...stated } = more;
      const { publicJwk, privateKeyPem } = makeKeyPair();
      const { token, tokenHash } = makeOneTimeToken();
      const joinToken = planJoinToken(tokenHash, 900, now());
      const wanted = {
        name: 'A host',
        labels: {},
        port_range: { from: 20_000, to: 29_999 },
        join_ttl_seconds: 900,
      };
      const created = { created_by: 'user:somebody', join_expires_at: joinToken.join_expires_at };
      const pending = planNode(more.id ?? newId(), wanted, created, now());
      const principal = planPrincipal(pending.id, joinToken);
      const host = { inventory: sampleInventory(), queue_url: `https://sqs.example/${pending.id}` };
      const node = { ...(isPending ? pending : enrolled(pending, host, now())), ...stated };
      const thumbprint = await calculateJwkThumbprint(publicJwk);
      await commit([
        ...insertNode(node, isPending ? principal : joined(principal, publicJwk, thumbprint)),
        ...(isPending ? [] : moveKey(principal, { ...principal, thumbprint })),
        ...(isPending ? [] : [beginHeartbeats(node.id, now())]),
      ]);
      return { ...node, private_key_pem: privateKeyPem, public_jwk: publicJwk, join_token: token };
    },
    /** As if it had proved who it is. */
    async nodeToken({ id }: { id: string }): Promise<string> {
      const principal = await findNodePrincipal(id);
      if (!principal) throw new Error('There is no such node.');
      const [keys, state] = await Promise.all([platformKeys(), findSigningState()]);
      const published = publishKeys(keys, state);
      if (published.length > 0) await commitAgain(published);
      const kid = signingKeyId(
        keys.map((key) => key.kid),
        state,
        now(),
      );
      const key = keys.find((each) => each.kid === kid);
      if (!key) throw new Error('No key signs.');
      const planned = { issuer: process.env['TOKEN_ISSUER'] ?? '', jti: newId(), ttlSeconds: 600 };
      const { header, claims } = planToken(nodeClaimant(principal), planned, now());
      return signJws(header, claims, key);
    },
    async selftest(): Promise<string> {
      const run = planSelftest(newId(), { correlationId: newId() }, now());
      await commit([insertSelftest(run)]);
      return run.id;
    },
    /** An app in the catalogue, of a project or of the platform, with one version. */
    async app(
      owner?: Project,
      {
        version = '1.0.0',
        status = 'staged',
        internal = false,
      }: Partial<VersionEntry & { version: string }> = {},
    ): Promise<App> {
      const app = planApp({
        slug: slug(),
        ...(owner && { owner: { org_id: owner.org_id, project_id: owner.id } }),
        versions: { [version]: { status, internal } },
      });
      await commitAgain(saveApp(undefined, app));
      return app;
    },
    /** An artifact of a project, in any state, by the domain's own writes; there are no bytes behind it. */
    async artifact(of: Project, stated: Partial<Artifact> = {}): Promise<Artifact> {
      const artifact = planArtifact(of, { app_slug: slug(), ...stated }, now());
      await commit(insertArtifact(artifact));
      return artifact;
    },
    /**
     * A file where its project publishes it, signed when that is asked for by somebody the platform then trusts. What
     * comes back is what an artifact tells of it.
     */
    async file(
      of: Project,
      {
        signed = false,
        content = newId(),
        ...stated
      }: Partial<Artifact> & { signed?: boolean; content?: string } = {},
    ) {
      const named = { app_slug: slug(), app_version: '1.0.0', artifact_name: 'weights', ...stated };
      const key = objectKeyOf({ project_id: of.id, ...named });
      const version_id = await world.putObject(key, content);
      if (signed) {
        await world.putObject(signatureKeyOf(key), await signFile(content, now()));
        await world.put(policyOfTests(now()));
      }
      return {
        ...named,
        artifact_kind: 'blob' as const,
        source_type: 'artifact_store' as const,
        source_uri: fileUri(key),
        digest: `sha256:${hash('sha256', content)}`,
        media_type: FILE_MEDIA_TYPE,
        size_bytes: Buffer.byteLength(content),
        object: { key, version_id },
      };
    },
    /** A node as placement sees it, which the index shows at once; nobody can speak for it. */
    async host(inventory: Partial<Inventory> = {}, more: Partial<Node> = {}): Promise<Node> {
      const node = plannedNode(inventory, more);
      await world.put({ ...nodeKey(node.id), ...node, gsi1pk: NODES_PARTITION, gsi1sk: node.id });
      return node;
    },
    set: (...change: Parameters<World['set']>) => world.set(...change),
    archive: ({ id }: Project) => world.set(projectKey(id), 'status', 'archived'),
    occupy: ({ id }: Project) => commit([addTo(projectCounterKey(id), 1)]),
    /** As if the last rotation, if there was one, had been long ago. */
    async letSigningKeySettle(): Promise<void> {
      const key = signingKey();
      if (!(await world.get(key))) return;
      await world.set(key, 'rotated_at', '2026-01-01T00:00:00.000Z');
      await world.set(key, 'overlap_until', '2026-01-01T01:00:00.000Z');
    },
  };
}

export type Scene = ReturnType<typeof openScene>;
