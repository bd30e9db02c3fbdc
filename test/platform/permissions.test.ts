import { describe, expect, test } from 'vitest';
import {
  type Grant,
  judge,
  type Permission,
  type Role,
  ROLES,
} from '../../functions/platform/permissions.ts';

// Told here a second time, and not taken from the table of roles: what is given to more people than before, or reaches
// further, must be given here too.

/** Each may all that the one before it may. */
const LADDER = ['viewer', 'app_operator', 'app_developer', 'project_admin', 'org_admin', 'platform_admin'];

type OfPeople = Exclude<Permission, `node.${string}`>;

const LEAST: Record<OfPeople, string> = {
  'org.read': 'viewer',
  'project.read': 'viewer',
  'project.member.read': 'viewer',
  'service_account.read': 'viewer',
  'event.read': 'viewer',
  'apps.catalog.read': 'viewer',
  'apps.entitlement.read': 'viewer',
  'apps.instance.read': 'viewer',
  'apps.artifact.read': 'viewer',
  'allocation.read': 'viewer',
  'apps.instance.create': 'app_operator',
  'apps.instance.delete': 'app_operator',
  'apps.instance.upgrade': 'app_operator',
  'apps.artifact.publish': 'app_operator',
  'allocation.create': 'app_operator',
  'allocation.release': 'app_operator',
  'apps.manifest.submit': 'app_developer',
  'project.write': 'project_admin',
  'project.archive': 'project_admin',
  'project.member.write': 'project_admin',
  'service_account.write': 'project_admin',
  'audit.read': 'project_admin',
  'apps.entitlement.write': 'project_admin',
  'apps.artifact.revoke': 'project_admin',
  'org.write': 'org_admin',
  'org.member.read': 'org_admin',
  'org.member.write': 'org_admin',
  'project.create': 'org_admin',
  'platform.org.create': 'platform_admin',
  'platform.audit.read': 'platform_admin',
  'platform.signing_key.rotate': 'platform_admin',
  'platform.selftest.run': 'platform_admin',
  'apps.catalog.publish': 'platform_admin',
  'apps.trust.write': 'platform_admin',
  'platform.node.read': 'platform_admin',
  'platform.node.write': 'platform_admin',
  'platform.node.drain': 'platform_admin',
  'platform.node.remove': 'platform_admin',
  'platform.node.task': 'platform_admin',
  'platform.sku.read': 'platform_admin',
  'platform.sku.write': 'platform_admin',
  'allocation.write_off': 'platform_admin',
};

describe('a role', () => {
  test.each(Object.keys(ROLES) as Role[])('%s may what it is meant to, and nothing else', (role) => {
    const meant = Object.entries(LEAST).flatMap(([permission, least]) =>
      LADDER.includes(role) && LADDER.indexOf(role) >= LADDER.indexOf(least) ? [permission] : [],
    );
    const machines: Record<string, string[]> = {
      node: [
        'node.report',
        'node.credential.issue',
        'node.trust.read',
        'node.secret.read',
        'node.workload.read',
      ],
      app: ['project.read', 'apps.instance.read'],
      // Means what its list says, and nothing without one.
      custom: [],
    };
    expect([...ROLES[role]].sort()).toEqual([...(machines[role] ?? meant)].sort());
  });
});

describe('a grant', () => {
  const own = { org_id: 'o1', project_id: 'p1' };
  const sibling = { org_id: 'o1', project_id: 'p2' };
  const foreign = { org_id: 'o2', project_id: 'p3' };
  const everywhere: Grant = { role: 'platform_admin' };
  const inOrg: Grant = { role: 'org_admin', org_id: 'o1' };
  const inProject: Grant = { role: 'project_admin', ...own };
  const lesser: Grant = { role: 'viewer', ...own };
  const listed: Grant = {
    role: 'custom',
    permissions: ['apps.instance.read', 'apps.catalog.publish', 'platform.org.create', 'org.write'],
    ...own,
  };
  const unlisted: Grant = { role: 'custom', ...own };
  const node: Grant = { role: 'node', node_id: 'n1' };
  const asAccount: Grant = { role: 'node', ...own };
  const named: Grant = { role: 'viewer', permissions: ['project.write'], ...own };

  test.each<[string, Grant[], Permission, Parameters<typeof judge>[2], ReturnType<typeof judge>]>([
    ['on the platform reaches every project', [everywhere], 'project.write', foreign, 'allowed'],
    ['on the platform reaches the platform', [everywhere], 'platform.org.create', {}, 'allowed'],
    ['in an organisation reaches it', [inOrg], 'org.write', { org_id: 'o1' }, 'allowed'],
    ['in an organisation reaches its projects', [inOrg], 'project.write', sibling, 'allowed'],
    ['in an organisation reaches no other', [inOrg], 'org.write', { org_id: 'o2' }, 'invisible'],
    ['in an organisation reaches no other’s project', [inOrg], 'project.read', foreign, 'invisible'],
    ['in an organisation reaches not the platform', [inOrg], 'org.read', {}, 'invisible'],
    ['in a project reaches it', [inProject], 'project.write', own, 'allowed'],
    ['in a project reaches no other', [inProject], 'project.read', sibling, 'invisible'],
    ['in a project shows the organisation, no more', [inProject], 'org.read', { org_id: 'o1' }, 'forbidden'],
    ['that is not enough is told so', [lesser], 'project.write', own, 'forbidden'],
    ['is not enough for what another allows elsewhere', [lesser, inOrg], 'org.write', foreign, 'invisible'],
    ['by a list allows what is listed', [listed], 'apps.instance.read', own, 'allowed'],
    [
      'by a list allows what only the platform’s admins could give',
      [listed],
      'apps.catalog.publish',
      own,
      'allowed',
    ],
    ['by a list allows nothing else', [listed], 'project.read', own, 'forbidden'],
    ['by a list reaches no other project', [listed], 'apps.instance.read', sibling, 'invisible'],
    ['by a list reaches not the organisation', [listed], 'org.write', { org_id: 'o1' }, 'forbidden'],
    ['by a list publishes not for the platform', [listed], 'apps.catalog.publish', {}, 'invisible'],
    ['by a list creates no organisation', [listed], 'platform.org.create', {}, 'invisible'],
    ['by a list that is missing allows nothing', [unlisted], 'project.read', own, 'forbidden'],
    ['by a name is not widened by a list', [named], 'project.write', own, 'forbidden'],
    ['of a node reaches the node', [node], 'node.report', { node_id: 'n1' }, 'allowed'],
    ['of a node reaches no other', [node], 'node.report', { node_id: 'n2' }, 'invisible'],
    ['of a node reaches no project', [node], 'project.read', own, 'invisible'],
    ['of a node reaches no organisation', [node], 'org.read', { org_id: 'o1' }, 'invisible'],
    ['of a node reaches not the platform', [node], 'platform.node.read', {}, 'invisible'],
    ['of a node allows there what is a node’s alone', [node], 'project.read', { node_id: 'n1' }, 'forbidden'],
    ['on the platform reaches no node', [everywhere], 'platform.node.read', { node_id: 'n1' }, 'invisible'],
    ['of a node in a project reaches no node', [asAccount], 'node.report', { node_id: 'n1' }, 'invisible'],
    ['of none at all shows nothing', [], 'project.read', own, 'invisible'],
  ])('%s', (_, grants, permission, place, verdict) => {
    expect(judge(grants, permission, place)).toBe(verdict);
  });
});
