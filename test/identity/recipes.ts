import { newId } from '../../functions/platform/ids.ts';
import {
  type Body,
  type Command,
  FIRST_VERSION,
  inOrg,
  inProject,
  onPlatform,
  ORG,
  type Prepared,
  PROJECT,
  readOrg,
  readProject,
  tell,
} from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import { anyAddress, type Call, signAssertion } from '../api/world.ts';

const TEAM_ARN = 'arn:aws:sts::111122223333:assumed-role/platform-team/somebody';

type Account = Awaited<ReturnType<Scene['account']>>;

const ACCOUNT = `${PROJECT}/service-accounts/{service_account_id}` as const;

/** By the same, about a service account of the project. */
const onAccount = (body?: unknown, status: 'active' | 'disabled' = 'active') =>
  inProject(async (scene, { project, admin }) => {
    const { id } = await scene.account(project, status);
    const params = { project_id: project.id, service_account_id: id };
    const call = { params, body, token: admin.token };
    return {
      call,
      subject: `service_account:${id}`,
      refused: { call: { ...call, headers: FIRST_VERSION }, code: 'precondition.failed' },
    };
  });

/** By a service account, who proves it in the call. */
const asAccount =
  (prove: (account: Account) => Promise<Pick<Prepared, 'call' | 'refused'>>) =>
  async (scene: Scene): Promise<Prepared> => {
    const { project } = await scene.place();
    const account = await scene.account(project);
    const name = `service_account:${account.id}`;
    const place = { org_id: project.org_id, project_id: project.id };
    return tell({ ...(await prove(account)), subject: name }, name, place);
  };

export const identityCommands: Command[] = [
  {
    route: 'POST /api/v1/selftests',
    prepare: async () =>
      tell(
        { call: { userArn: TEAM_ARN }, subject: ({ id }) => `selftest:${id}` },
        `platform_team:${TEAM_ARN}`,
        {},
      ),
  },
  {
    route: 'POST /api/v1/admin/selftests',
    prepare: onPlatform(async (_, token) => ({
      call: { token },
      subject: ({ id }) => `selftest:${id}`,
    })),
  },

  {
    route: 'POST /api/v1/orgs',
    how: 'to administer oneself',
    prepare: (scene) => newOrg(scene, {}),
  },
  {
    route: 'POST /api/v1/orgs',
    how: 'for an admin who is invited',
    prepare: (scene) => newOrg(scene, { invite_admin_email: 'first@example.com' }),
  },
  {
    route: `PATCH ${ORG}`,
    prepare: inOrg(async (_, { org, admin }) => {
      const call = { params: { org_id: org.id }, body: { name: 'Renamed' }, token: admin.token };
      return {
        call,
        subject: `org:${org.id}`,
        refused: { call: { ...call, headers: FIRST_VERSION }, code: 'precondition.failed' },
      };
    }),
  },
  {
    route: `PUT ${ORG}/members/{user_id}`,
    prepare: inOrg(async (scene, { org, admin }) => {
      const { id } = await scene.member({ org_id: org.id }, 'viewer');
      const call = { body: { role: 'org_admin' }, token: admin.token };
      return {
        call: { ...call, params: { org_id: org.id, user_id: id } },
        subject: `user:${id}`,
        refused: {
          call: { ...call, params: { org_id: org.id, user_id: newId() } },
          code: 'member.unknown',
        },
      };
    }),
  },
  {
    route: `DELETE ${ORG}/members/{user_id}`,
    prepare: inOrg(async (scene, { org, project, admin }) => {
      const { id } = await scene.member({ org_id: org.id, project_id: project.id }, 'viewer');
      const call = { token: admin.token };
      return {
        call: { ...call, params: { org_id: org.id, user_id: id } },
        subject: `user:${id}`,
        refused: {
          call: { ...call, params: { org_id: org.id, user_id: admin.id } },
          code: 'member.last_admin',
        },
      };
    }),
  },
  {
    route: `POST ${ORG}/invitations`,
    how: 'to the organisation',
    prepare: inOrg(async (_, { org, admin }) => {
      const call = { params: { org_id: org.id }, token: admin.token };
      const body = { email: 'guest@example.com', role: 'viewer' };
      return {
        call: { ...call, body },
        subject: ({ id }) => `invitation:${id}`,
        refused: { call: { ...call, body: { ...body, role: 'app_operator' } }, code: 'request.invalid' },
      };
    }),
  },
  {
    route: `POST ${ORG}/invitations`,
    how: 'to a project',
    prepare: inOrg(async (scene, { org, project, admin }) => {
      const elsewhere = await scene.place();
      const call = { params: { org_id: org.id }, token: admin.token };
      const body = { email: 'guest@example.com', role: 'viewer' };
      return {
        call: { ...call, body: { ...body, project_id: project.id } },
        subject: ({ id }) => `invitation:${id}`,
        refused: {
          call: { ...call, body: { ...body, project_id: elsewhere.project.id } },
          code: 'project.unknown',
        },
      };
    }),
  },
  {
    route: `DELETE ${ORG}/invitations/{invitation_id}`,
    prepare: inOrg(async (scene, { org, admin }) => {
      const { id } = await scene.invitation({ org_id: org.id }, 'guest@example.com');
      const call = { params: { org_id: org.id, invitation_id: id }, token: admin.token };
      return { call, subject: `invitation:${id}`, refused: { call, code: 'invitation.unknown' } };
    }),
  },
  {
    route: 'POST /api/v1/invitations/accept',
    prepare: async (scene) => {
      const { org } = await scene.place();
      const guest = await scene.person();
      const invitation = await scene.invitation({ org_id: org.id }, guest.email);
      const call = { body: { invitation_token: invitation.token }, token: guest.token };
      return tell(
        { call, subject: `invitation:${invitation.id}`, refused: { call, code: 'invitation.unknown' } },
        `user:${guest.id}`,
        { org_id: org.id },
      );
    },
  },

  {
    route: `POST ${ORG}/projects`,
    prepare: async (scene) => {
      const { org, admin } = await scene.place();
      const body = { name: 'New', slug: scene.slug(), description: 'All of it' };
      const call = { params: { org_id: org.id }, body, token: admin.token };
      return {
        call,
        actor: `user:${admin.id}`,
        about: ({ id }) => ({ subject: `project:${id}`, org_id: org.id, project_id: id as string }),
        refused: { call, code: 'project.slug_taken' },
      };
    },
  },
  {
    route: `PATCH ${PROJECT}`,
    prepare: inProject(async (_, { project, admin }) => {
      const call = { params: { project_id: project.id }, body: { name: 'Renamed' }, token: admin.token };
      return {
        call,
        subject: `project:${project.id}`,
        refused: { call: { ...call, headers: FIRST_VERSION }, code: 'precondition.failed' },
      };
    }),
  },
  {
    route: `POST ${PROJECT}/archive`,
    prepare: inProject(async (scene, { org, project, admin }) => {
      const busy = await scene.project(org);
      await scene.occupy(busy);
      const call = { token: admin.token };
      return {
        call: { ...call, params: { project_id: project.id } },
        subject: `project:${project.id}`,
        refused: { call: { ...call, params: { project_id: busy.id } }, code: 'project.in_use' },
      };
    }),
  },
  {
    route: `POST ${PROJECT}/unarchive`,
    prepare: inProject(async (scene, { project, admin }) => {
      await scene.archive(project);
      const call = { params: { project_id: project.id }, token: admin.token };
      return { call, subject: `project:${project.id}` };
    }),
  },
  {
    route: `PUT ${PROJECT}/members/{user_id}`,
    prepare: inProject(async (scene, { org, project, admin }) => {
      const { id } = await scene.member({ org_id: org.id }, 'viewer');
      const call = { body: { role: 'app_operator' }, token: admin.token };
      return {
        call: { ...call, params: { project_id: project.id, user_id: id } },
        subject: `user:${id}`,
        refused: {
          call: { ...call, params: { project_id: project.id, user_id: newId() } },
          code: 'member.unknown',
        },
      };
    }),
  },
  {
    route: `DELETE ${PROJECT}/members/{user_id}`,
    prepare: inProject(async (scene, { org, project, admin }) => {
      const { id } = await scene.member({ org_id: org.id, project_id: project.id }, 'viewer');
      const call = { params: { project_id: project.id, user_id: id }, token: admin.token };
      return { call, subject: `user:${id}`, refused: { call, code: 'member.unknown' } };
    }),
  },

  {
    route: `POST ${PROJECT}/service-accounts`,
    prepare: inProject(async (scene, { project, admin }) => {
      const body = { name: 'New', slug: scene.slug(), description: 'For all', role: 'viewer' };
      const call = { params: { project_id: project.id }, body, token: admin.token };
      return {
        call,
        subject: ({ id }) => `service_account:${id}`,
        refused: { call, code: 'service_account.slug_taken' },
      };
    }),
  },
  { route: `PATCH ${ACCOUNT}`, prepare: onAccount({ role: 'viewer' }) },
  { route: `POST ${ACCOUNT}/disable`, prepare: onAccount() },
  { route: `POST ${ACCOUNT}/enable`, prepare: onAccount(undefined, 'disabled') },
  { route: `POST ${ACCOUNT}/rotate-key`, prepare: onAccount({ overlap_seconds: 60 }) },
  {
    route: `DELETE ${ACCOUNT}`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { id } = await scene.account(project);
      const params = { project_id: project.id, service_account_id: id };
      const call = { params, token: admin.token };
      return {
        call,
        subject: `service_account:${id}`,
        refused: { call, code: 'service_account.unknown' },
      };
    }),
  },

  {
    route: 'POST /api/v1/auth/service-account/token',
    prepare: asAccount(async (account) => {
      const call = { body: { assertion: await signAssertion(account) }, sourceIp: anyAddress() };
      return { call, refused: { call, code: 'auth.assertion_refused' } };
    }),
  },
  {
    route: 'POST /api/v1/auth/sa/token',
    prepare: asAccount(async ({ id, key_id, private_key_pem }) => {
      const body = { service_account_id: id, key_id, private_key_pem };
      const call = { body, sourceIp: anyAddress() };
      return {
        call,
        refused: { call: { ...call, body: { ...body, key_id: newId() } }, code: 'auth.assertion_refused' },
      };
    }),
  },
  {
    route: 'POST /api/v1/admin/signing-keys/rotate',
    prepare: onPlatform(async (scene, token) => {
      await scene.letSigningKeySettle();
      return {
        call: { token },
        subject: ({ items }) => `signing_key:${activeKey(items as Body[])}`,
        refused: { call: { token }, code: 'signing_key.just_rotated' },
      };
    }),
  },
  {
    route: `POST ${PROJECT}/events/tickets`,
    prepare: inProject(async (_, { project, admin }) => ({
      call: { params: { project_id: project.id }, token: admin.token },
      subject: `project:${project.id}`,
    })),
  },
];

async function newOrg(scene: Scene, more: object): Promise<Prepared> {
  const { id, token } = await scene.platformAdmin();
  const call = { body: { name: 'New', slug: scene.slug(), ...more }, token };
  return {
    call,
    actor: `user:${id}`,
    about: (reply) => ({ subject: `org:${reply['id']}`, org_id: reply['id'] as string }),
    refused: { call, code: 'org.slug_taken' },
  };
}

const activeKey = (items: Body[]): string =>
  items.find(({ status }) => status === 'active')?.['key_id'] as string;

/** A call of every route that only reads, by somebody with roles. */
export const identityReads = {
  'GET /api/v1/health': async () => ({}),
  'GET /api/v1/selftests/{selftest_id}': async (scene) => ({
    params: { selftest_id: await scene.selftest() },
    userArn: TEAM_ARN,
  }),
  'GET /api/v1/admin/selftests/{selftest_id}': async (scene) => ({
    params: { selftest_id: await scene.selftest() },
    token: (await scene.platformAdmin()).token,
  }),
  'GET /api/v1/openapi.json': async () => ({}),
  'GET /api/v1/asyncapi.json': async () => ({}),
  'GET /docs': async () => ({}),
  'GET /api/v1/schemas/app-manifest/v1': async () => ({}),
  'GET /api/v1/me': async (scene) => ({ token: (await scene.place()).admin.token }),
  'GET /api/v1/orgs': async (scene) => ({ token: (await scene.place()).admin.token }),
  'GET /api/v1/orgs/{org_id}': readOrg,
  'GET /api/v1/orgs/{org_id}/members': readOrg,
  'GET /api/v1/orgs/{org_id}/invitations': readOrg,
  'GET /api/v1/orgs/{org_id}/projects': readOrg,
  'GET /api/v1/projects/{project_id}': readProject,
  'GET /api/v1/projects/{project_id}/members': readProject,
  'GET /api/v1/projects/{project_id}/service-accounts': readProject,
  'GET /api/v1/projects/{project_id}/service-accounts/{service_account_id}': async (scene) => {
    const { project, admin } = await scene.place();
    const { id } = await scene.account(project);
    return { params: { project_id: project.id, service_account_id: id }, token: admin.token };
  },
  'GET /.well-known/jwks.json': async () => ({}),
  'GET /.well-known/openid-configuration': async () => ({}),
  'GET /api/v1/admin/signing-keys': async (scene) => ({ token: (await scene.platformAdmin()).token }),
  'GET /api/v1/projects/{project_id}/audit': readProject,
  'GET /api/v1/admin/audit': async (scene) => ({ token: (await scene.platformAdmin()).token }),
  'GET /api/v1/projects/{project_id}/events': readProject,
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
