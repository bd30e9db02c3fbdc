import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptInvitation } from '../../functions/identity/accept-invitation.ts';
import { createInvitation } from '../../functions/identity/create-invitation.ts';
import { listOrgMembers } from '../../functions/identity/list-org-members.ts';
import { listInvitations } from '../../functions/identity/list-invitations.ts';
import { revokeInvitation } from '../../functions/identity/revoke-invitation.ts';
import { removeInvitation } from '../../functions/identity/invitation-store.ts';
import type { Invitation } from '../../functions/identity/invitation.ts';
import { invitationKey, memberKey } from '../../functions/identity/keys.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { orgKey, userKey } from '../../functions/platform/data/keys.ts';
import { type OrgWorld, openOrgWorld } from './org-world.ts';

let world: OrgWorld;
beforeAll(async () => void (world = await openOrgWorld()));
afterAll(() => world.stop());

const DAY_MS = 24 * 3600 * 1000;
const later = (days: number) => () => new Date(Date.now() + days * DAY_MS);
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

describe('inviting somebody', () => {
  test('tells the secret once and keeps its hash alone', async () => {
    const { org, admin } = await world.newOrg();
    const guest = world.person();
    const body = { email: guest.email.toUpperCase(), role: 'viewer' };
    const answer = await world.ask(createInvitation, { as: admin, org, body });
    expect(answer).toMatchObject({
      status: 201,
      body: { email: guest.email, role: 'viewer', org_id: org, invited_by: `user:${admin.id}` },
      requests: 1,
    });
    const { id, invitation_token: token, expires_at } = answer.body;
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(6.99 * DAY_MS);

    const kept = [
      await world.rows(orgKey(org).pk),
      await world.rows(invitationKey(hashOf(token)).pk),
      await world.audit(org),
      await world.events(org),
    ];
    expect(JSON.stringify(kept)).toContain(id);
    expect(JSON.stringify(kept)).not.toContain(token);
    expect(JSON.stringify(await world.events(org)), 'feeds tell no addresses').not.toContain(guest.email);
    const { body: list, requests } = await world.ask(listInvitations, { as: admin, org });
    expect(requests).toBe(1);
    expect(list['items']).toMatchObject([{ id, email: guest.email }]);
    expect(JSON.stringify(list)).not.toMatch(/token/);
  });

  test('to a project needs a project of this organisation', async () => {
    const { org, admin } = await world.newOrg();
    const other = await world.newOrg();
    const [own, foreign] = [await world.newProject(org), await world.newProject(other.org)];
    const ask = (project_id: string) =>
      world.ask(createInvitation, {
        as: admin,
        org,
        body: { email: 'a@example.com', role: 'viewer', project_id },
      });
    expect(await ask(own)).toMatchObject({ status: 201, body: { project_id: own }, requests: 2 });
    expect((await ask(own.toUpperCase())).body['project_id']).toBe(own);
    expect((await ask(foreign)).code).toBe('project.unknown');
    expect((await ask(crypto.randomUUID())).code).toBe('project.unknown');
  });

  test.each([
    ['a project’s role in the organisation', { role: 'project_admin' }],
    ['a role nobody may give', { role: 'platform_admin' }],
    ['no address', { email: 'nobody', role: 'viewer' }],
    ['an address that is too long', { email: `${'a'.repeat(250)}@example.com`, role: 'viewer' }],
    ['a time of one’s own', { role: 'viewer', expires_at: '2099-01-01T00:00:00Z' }],
  ])('refuses %s', async (_, body) => {
    const { org, admin } = await world.newOrg();
    const asking = { as: admin, org, body: { email: 'a@example.com', ...body } };
    expect((await world.ask(createInvitation, asking)).code).toBe('request.invalid');
  });

  test('refuses an organisation’s role in a project, and says which there are', async () => {
    const { org, admin } = await world.newOrg();
    const project_id = await world.newProject(org);
    const body = { email: 'a@example.com', role: 'org_admin', project_id };
    const { code, body: problem } = await world.ask(createInvitation, { as: admin, org, body });
    expect(code).toBe('request.invalid');
    expect(problem['errors']).toMatchObject([
      { pointer: '/role', detail: expect.stringContaining('project_admin') as string },
    ]);
  });
});

describe('accepting', () => {
  test('binds the role to whoever accepts', async () => {
    const { org } = await world.newOrg();
    const guest = world.person();
    const answer = await world.accept(guest, await world.invite(org, guest, 'org_admin'));
    expect(answer).toMatchObject({
      status: 200,
      body: { user_id: guest.id, role: 'org_admin', org_id: org },
      requests: 2,
    });
    expect(await world.get(userKey(guest.id))).toMatchObject({
      ...guest,
      grants: [{ role: 'org_admin', org_id: org }],
      version: 1,
    });
    expect(await world.get(memberKey({ org_id: org }, guest.id))).toMatchObject({ email: guest.email });
    expect(await world.get(orgKey(org))).toMatchObject({ admin_count: 2 });
    expect((await world.audit(org)).at(-1)).toMatchObject({
      action: 'identity.invitation.accept',
      org_id: org,
    });
    expect((await world.events(org)).slice(-2)).toMatchObject([
      { type: 'identity.invitation.accepted', data: { user_id: guest.id } },
      { type: 'identity.member.added', data: { user_id: guest.id } },
    ]);
    expect(await world.rows(orgKey(org).pk, 'INVITATION#')).toEqual([]);
  });

  test('for a project is told in the project', async () => {
    const { org } = await world.newOrg();
    const project = await world.newProject(org);
    const member = await world.join(org, 'app_developer', project);
    expect((await world.audit(project)).at(-1)).toMatchObject({
      action: 'identity.invitation.accept',
      project_id: project,
    });
    expect((await world.events(project)).at(-1)).toMatchObject({
      data: { user_id: member.id, role: 'app_developer' },
    });
    expect(
      await world.get(memberKey({ org_id: org }, member.id)),
      'not of the whole organisation',
    ).toBeUndefined();
  });

  test('a second time finds nothing, unless it is the same request', async () => {
    const { org } = await world.newOrg();
    const guest = world.person();
    const invitation_token = await world.invite(org, guest, 'viewer');
    const asking = { as: guest, body: { invitation_token }, key: 'accept' };
    const first = await world.ask(acceptInvitation, asking);
    expect((await world.accept(guest, invitation_token)).code).toBe('invitation.unknown');
    expect((await world.ask(acceptInvitation, asking)).body).toEqual(first.body);
  });

  test('is for the one invited, in whatever case they are written', async () => {
    const { org } = await world.newOrg();
    const [guest, other] = [world.person(), world.person()];
    const token = await world.invite(org, guest, 'viewer');
    expect((await world.accept(other, token)).code).toBe('invitation.other_email');
    expect((await world.accept({ ...guest, email: guest.email.toUpperCase() }, token)).status).toBe(200);
  });

  describe.each(['refused', 'accepted'])('where invitations without an address are %s', (policy) => {
    beforeAll(() => void (process.env['INVITATIONS_WITHOUT_EMAIL'] = policy));
    afterAll(() => void (process.env['INVITATIONS_WITHOUT_EMAIL'] = 'refused'));

    test.each([
      ['unverified', 'invitation.email_unverified'],
      ['unreadable', 'invitation.email_unknown'],
      ['missing', 'invitation.email_unknown'],
      [undefined, 'invitation.email_unknown'],
      ['untold', policy === 'refused' ? 'invitation.email_unknown' : undefined],
    ] as const)(
      'somebody whose address is %s gets %s, and takes nothing from anybody',
      async (reason, code) => {
        const { org, admin } = await world.newOrg();
        const [guest, bearer] = [world.person(), world.person()];
        const invitation_token = await world.invite(org, guest, 'viewer');
        const asking = {
          actor: { kind: 'user', id: bearer.id },
          withoutEmail: reason,
          body: { invitation_token },
        } as const;
        const answer = await world.ask(acceptInvitation, asking);
        expect(answer.code).toBe(code);
        if (code !== undefined) {
          expect(answer.requests, 'the invitation is not even looked at').toBe(0);
          const made_up = { ...asking, body: { invitation_token: 'x'.repeat(43) } };
          expect(await world.ask(acceptInvitation, made_up), 'nor told from none').toEqual(answer);
          expect((await world.accept(guest, invitation_token)).status).toBe(200);
          return;
        }
        expect(await world.get(userKey(bearer.id)), 'the address is not theirs').not.toHaveProperty('email');
        const { body } = await world.ask(listOrgMembers, { as: admin, org });
        const member = body['items'].find(({ user_id }: { user_id: string }) => user_id === bearer.id);
        expect(member).toEqual({ user_id: bearer.id, role: 'viewer', since: expect.any(String) as string });
        expect((await world.accept(guest, invitation_token)).code).toBe('invitation.unknown');
      },
    );
  });

  test('is not for service accounts', async () => {
    const { org } = await world.newOrg();
    const invitation_token = await world.invite(org, world.person(), 'viewer');
    const actor = { kind: 'service_account', id: crypto.randomUUID() } as const;
    expect((await world.ask(acceptInvitation, { actor, body: { invitation_token } })).code).toBe(
      'permission.denied',
    );
  });

  test.each(['', 'short', 'x'.repeat(44), `${'x'.repeat(42)}=`])(
    'refuses “%s”, which is no token',
    async (token) => {
      expect((await world.accept(world.person(), token)).code).toBe('request.invalid');
    },
  );

  test('finds nothing for a token nobody gave out', async () => {
    expect((await world.accept(world.person(), 'x'.repeat(43))).code).toBe('invitation.unknown');
  });

  test('gives another role to whoever has one there already', async () => {
    const { org } = await world.newOrg();
    const member = await world.join(org, 'viewer');
    await world.done(world.accept(member, await world.invite(org, member, 'org_admin')));
    expect(await world.get(userKey(member.id))).toMatchObject({
      grants: [{ role: 'org_admin', org_id: org }],
    });
    expect(await world.get(orgKey(org))).toMatchObject({ admin_count: 2 });
  });

  test('uses the invitation up also when it brings nothing new', async () => {
    const { org } = await world.newOrg();
    const member = await world.join(org, 'viewer');
    const token = await world.invite(org, member, 'viewer');
    expect((await world.accept(member, token)).status).toBe(200);
    expect((await world.accept(member, token)).code).toBe('invitation.unknown');
    expect((await world.events(org)).at(-1)).toMatchObject({ type: 'identity.invitation.accepted' });
  });

  test('succeeds for one of 20 who try at once', async () => {
    const { org } = await world.newOrg();
    const guests = Array.from({ length: 20 }, () => world.person());
    const invitation_token = await world.invite(org, guests[0] ?? world.person(), 'org_admin');
    const answers = await Promise.all(
      // Several accounts may have shown that they receive mail at the same address.
      guests.map(({ id }) => world.accept({ id, email: guests[0]?.email ?? '' }, invitation_token)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const codes = answers.flatMap(({ code }) => code ?? []);
    expect(codes.filter((code) => !['invitation.unknown', 'request.conflict'].includes(code))).toEqual([]);
    expect(await world.get(orgKey(org))).toMatchObject({ admin_count: 2 });
    expect(await world.rows(orgKey(org).pk, 'MEMBER#')).toHaveLength(2);
  });

  test('succeeds once for one person who tries 20 times at once', async () => {
    const { org } = await world.newOrg();
    const guest = world.person();
    const token = await world.invite(org, guest, 'org_admin');
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.accept(guest, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await world.get(orgKey(org))).toMatchObject({ admin_count: 2 });
  });
});

describe('an invitation', () => {
  test('is good for seven days', async () => {
    const { org, admin } = await world.newOrg();
    const [early, late] = [world.person(), world.person()];
    const tokens = [await world.invite(org, early, 'viewer'), await world.invite(org, late, 'viewer')];
    const accept = (as: typeof early, invitation_token: string | undefined, days: number) =>
      world.ask(acceptInvitation, { as, body: { invitation_token }, now: later(days) });
    expect((await accept(late, tokens[1], 7.01)).code).toBe('invitation.unknown');
    expect((await accept(early, tokens[0], 6.99)).status).toBe(200);
    const listed = await world.ask(listInvitations, { as: admin, org, now: later(7.01) });
    expect(listed.body['items'], 'though the table still holds it').toEqual([]);
    const [row] = await world.rows(orgKey(org).pk, 'INVITATION#');
    const params = { invitation_id: row?.['id'] as string };
    const revoked = await world.ask(revokeInvitation, { as: admin, org, params, now: later(7.01) });
    expect(revoked.code).toBe('invitation.unknown');
    const expired = commit(removeInvitation(row as Invitation, later(7.01)()));
    await expect(expired).rejects.toMatchObject({ code: 'invitation.unknown' });
  });

  test('is revoked, and then good for nothing', async () => {
    const { org, admin } = await world.newOrg();
    const guest = world.person();
    const token = await world.invite(org, guest, 'viewer');
    const { body } = await world.ask(listInvitations, { as: admin, org });
    const params = { invitation_id: body['items'][0].id as string };
    expect(await world.ask(revokeInvitation, { as: admin, org, params })).toMatchObject({
      status: 204,
      requests: 2,
    });
    expect((await world.accept(guest, token)).code).toBe('invitation.unknown');
    expect((await world.ask(revokeInvitation, { as: admin, org, params })).code).toBe('invitation.unknown');
    expect(await world.get(invitationKey(hashOf(token)))).toBeUndefined();
    expect((await world.events(org)).at(-1)).toMatchObject({ type: 'identity.invitation.revoked' });
    expect((await world.audit(org)).at(-1)).toMatchObject({ before: { email: guest.email } });
  });

  test('is revoked by nobody of another organisation', async () => {
    const { org, admin } = await world.newOrg();
    const other = await world.newOrg();
    await world.invite(org, world.person(), 'viewer');
    const { body } = await world.ask(listInvitations, { as: admin, org });
    const params = { invitation_id: body['items'][0].id as string };
    const { code } = await world.ask(revokeInvitation, { as: other.admin, org: other.org, params });
    expect(code).toBe('invitation.unknown');
  });

  test('accepted and revoked at once is one of the two', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { org, admin } = await world.newOrg();
      const guest = world.person();
      const token = await world.invite(org, guest, 'viewer');
      const { body } = await world.ask(listInvitations, { as: admin, org });
      const params = { invitation_id: body['items'][0].id as string };
      const [accepted, revoked] = await Promise.all([
        world.accept(guest, token),
        world.ask(revokeInvitation, { as: admin, org, params }),
      ]);
      expect([accepted.code, revoked.code].filter((code) => code === undefined)).toHaveLength(1);
      expect((await world.get(userKey(guest.id))) === undefined).toBe(accepted.code !== undefined);
    }
  });

  test('is listed by pages, oldest first, each one request', async () => {
    const { org, admin } = await world.newOrg();
    const guests = Array.from({ length: 5 }, () => world.person());
    for (const guest of guests) await world.invite(org, guest, 'viewer');
    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const query = { limit: '2', ...(cursor && { cursor }) };
      const page = await world.ask(listInvitations, { as: admin, org, query });
      expect(page.requests).toBe(1);
      seen.push(...page.body['items'].map(({ email }: { email: string }) => email));
      cursor = page.body['next_cursor'];
    }
    expect(seen).toEqual(guests.map(({ email }) => email));
  });
});
