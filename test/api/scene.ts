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
import { newcomer } from '../../functions/identity/user.ts';
import { NODES_PARTITION, nodeKey } from '../../functions/nodes/keys.ts';
import type { Inventory } from '../../functions/nodes/inventory.ts';
import type { Node } from '../../functions/nodes/node.ts';
import { makeOneTimeToken } from '../../functions/platform/auth/one-time-token.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { addTo } from '../../functions/platform/data/counters.ts';
import { projectCounterKey, projectKey, signingKey } from '../../functions/platform/data/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Role } from '../../functions/platform/permissions.ts';
import { insertSelftest } from '../../functions/selftest/selftest-store.ts';
import { planSelftest } from '../../functions/selftest/selftest.ts';
import { fileUri, objectKeyOf, signatureKeyOf } from '../../functions/storage/repository.ts';
import { hash } from 'node:crypto';
import { ADMIN, type World } from './world.ts';
import { planArtifact } from '../artifacts/planned-artifact.ts';
import { policyOfTests, signFile } from '../artifacts/signed-file.ts';
import { planNode } from '../allocations/planned.ts';
import { planApp } from '../catalog/entitled.ts';
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
    /** A host that has enrolled, as the index shows it at once; there is no agent behind it. */
    async host(inventory: Partial<Inventory> = {}, more: Partial<Node> = {}): Promise<Node> {
      const node = planNode(inventory, more);
      await world.put({ ...nodeKey(node.id), ...node, gsi1pk: NODES_PARTITION, gsi1sk: node.id });
      return node;
    },
    set: world.set,
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
