import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../functions/routes.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { routesAsked } from '../domains.ts';
import { type Counted, countRequests } from './request-counts.ts';
import { openWorld, type World } from './world.ts';

/** What a read answers from memory, or from what it was built with. */
const READ_NOTHING = new Set([
  'GET /api/v1/health',
  'GET /api/v1/openapi.json',
  'GET /api/v1/asyncapi.json',
  'GET /docs',
  'GET /api/v1/agent/bootstrap.sh',
  'GET /api/v1/agent/cloud-init.yaml',
  'GET /api/v1/agent/bundle.mjs',
  'GET /api/v1/agent/release',
  'GET /api/v1/schemas/app-manifest/v1',
  'GET /api/v1/apps/registry',
  'GET /.well-known/jwks.json',
  'GET /.well-known/openid-configuration',
]);

/** What cannot be told by one. */
const READS_MORE: Record<string, number> = {
  // Which there are, and then each as it is now.
  'GET /api/v1/admin/allocations': 2,
  // What is asked for, which hosts there are, and what is held of those that would do.
  'GET /api/v1/projects/{project_id}/placement/explain': 3,
  'GET /api/v1/admin/placement/explain': 3,
  // The parts over which the index of all audit rows is spread, at once.
  'GET /api/v1/admin/audit': 4,
  // Which bytes the artifact is, who has them, and how their versions stand.
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/usage': 3,
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke/dry-run': 3,
  // Which tasks, and the tasks with their answers.
  'GET /api/v1/admin/nodes/{node_id}/tasks': 2,
  // What trust is judged by, what is assigned to the node, and what of it was revoked.
  'GET /api/v1/nodes/{node_id}/trust': 3,
};

/** What a command needs to know before it can decide; more than one request would have to be explained here. */
const READS_OF_RULES: Record<string, number> = {
  'PUT /api/v1/admin/skus/{sku}': 1,
  'DELETE /api/v1/admin/skus/{sku}': 1,
  // Which hosts there are, and then all that a place is chosen by.
  'POST /api/v1/projects/{project_id}/allocations': 2,
  'POST /api/v1/projects/{project_id}/allocations/{allocation_id}/release': 1,
  // The allocation first: only it says on which host it is.
  'POST /api/v1/admin/allocations/{allocation_id}/write-off': 2,
  // And for what a host is asked, the number of its last task about it.
  'POST /api/v1/projects/{project_id}/volumes': 3,
  'DELETE /api/v1/projects/{project_id}/volumes/{volume_id}': 3,
  'POST /api/v1/selftests': 0,
  'POST /api/v1/admin/selftests': 0,
  // The caller's own roles, to which one is added.
  'POST /api/v1/orgs, to administer oneself': 1,
  'POST /api/v1/orgs, for an admin who is invited': 0,
  'PATCH /api/v1/orgs/{org_id}': 1,
  // The person and the organisation, whose admins are counted, by one request.
  'PUT /api/v1/orgs/{org_id}/members/{user_id}': 1,
  'DELETE /api/v1/orgs/{org_id}/members/{user_id}': 1,
  // What the inviter may do now: nobody gives what they do not hold.
  'POST /api/v1/orgs/{org_id}/invitations, to the organisation': 1,
  // With it, whether the project is the organisation's.
  'POST /api/v1/orgs/{org_id}/invitations, to a project': 1,
  'DELETE /api/v1/orgs/{org_id}/invitations/{invitation_id}': 1,
  // The invitation and the person, by one request.
  'POST /api/v1/invitations/accept': 1,
  'POST /api/v1/orgs/{org_id}/projects': 0,
  'PATCH /api/v1/projects/{project_id}': 1,
  'POST /api/v1/projects/{project_id}/archive': 1,
  'POST /api/v1/projects/{project_id}/unarchive': 1,
  'PUT /api/v1/projects/{project_id}/members/{user_id}': 1,
  'DELETE /api/v1/projects/{project_id}/members/{user_id}': 1,
  // What the caller may do now; where there is an account or a person, it is read with them.
  'POST /api/v1/projects/{project_id}/service-accounts': 1,
  'PATCH /api/v1/projects/{project_id}/service-accounts/{service_account_id}': 1,
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/disable': 1,
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/enable': 1,
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/rotate-key': 1,
  'DELETE /api/v1/projects/{project_id}/service-accounts/{service_account_id}': 1,
  // The account, whose key the proof is checked against.
  'POST /api/v1/auth/service-account/token': 1,
  'POST /api/v1/auth/sa/token': 1,
  // Who the node is.
  'POST /api/v1/auth/node/token': 1,
  'POST /api/v1/admin/signing-keys/rotate': 1,
  'POST /api/v1/projects/{project_id}/events/tickets': 0,
  // What stands under the manifest's names: app, version and its promotion, by one request.
  'POST /api/v1/admin/apps/manifests, for the platform': 1,
  'POST /api/v1/admin/apps/manifests, for a project': 1,
  'POST /api/v1/admin/apps/manifests, with several versions': 1,
  'POST /api/v1/projects/{project_id}/apps/manifests': 1,
  'PUT /api/v1/projects/{project_id}/apps/submissions/{submission_id}': 1,
  'POST /api/v1/projects/{project_id}/apps/submissions/{submission_id}/withdraw': 1,
  // The submission first: only it says which app it is about.
  'POST /api/v1/admin/apps/submissions/{submission_id}/approve': 2,
  'POST /api/v1/admin/apps/submissions/{submission_id}/reject': 1,
  'POST /api/v1/admin/apps/submissions/{submission_id}/request-changes': 1,
  // The app and what the project and its organisation say of it so far, by one request.
  'PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': 1,
  'PUT /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': 1,
  // The app, the version and its last promotion, by one request; what holds of its artifacts is a condition.
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/promote': 1,
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/promote, of a project’s app': 1,
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/publish': 1,
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/rollback': 1,
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/deprecate': 1,
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/retire': 1,
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/smoke': 1,
  'PUT /api/v1/admin/apps/promotion-policy': 1,
  // Whose the app is; and what a signature must be, which is a list of its own.
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents, for an image': 2,
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents, for a file': 2,
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}/unwrap': 1,
  // Whose the app is, and whether the artifact is registered, by one request.
  'POST /api/v1/projects/{project_id}/app-artifacts': 1,
  // The artifact; what trust is judged by, as it is now; and the version that would have to be told.
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/verify': 3,
  // The artifact and its last promotion, by one request; on its way back or out also its version, and who runs it.
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promote': 1,
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/rollback': 2,
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/deprecate': 2,
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/retire': 3,
  // The artifact; what else has its bytes, with its version; and of those others the same again.
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke': 4,
  // The policy or the certificate, and the head of everything trust is judged by, by one request.
  'PUT /api/v1/admin/artifacts/trust-policies/{policy_name}': 1,
  'DELETE /api/v1/admin/artifacts/trust-policies/{policy_name}': 1,
  'PUT /api/v1/admin/artifacts/revoked-certificates/{fingerprint}': 1,
  'DELETE /api/v1/admin/artifacts/revoked-certificates/{fingerprint}': 1,
  'POST /api/v1/admin/nodes': 0,
  // The node, with who it is, what is held of it or when it was heard of, by one request.
  'POST /api/v1/admin/nodes/{node_id}/join-token': 1,
  'POST /api/v1/admin/nodes/{node_id}/cordon': 1,
  'POST /api/v1/admin/nodes/{node_id}/uncordon': 1,
  'POST /api/v1/admin/nodes/{node_id}/drain': 1,
  // The same, and whether anything runs there.
  'DELETE /api/v1/admin/nodes/{node_id}': 2,
  // The node, who it is, and whose the key is that is brought.
  'POST /api/v1/nodes/{node_id}/enrolment': 1,
  'PUT /api/v1/nodes/{node_id}/inventory': 1,
  // Whose the repository is, which artifacts have the bytes, whether one of them is verified; then the node and the workload.
  'POST /api/v1/admin/nodes/{node_id}/tasks': 4,
  'POST /api/v1/nodes/{node_id}/queue-credentials': 0,
  // What is assigned to the node.
  'POST /api/v1/nodes/{node_id}/pull-credentials': 1,
  'POST /api/v1/nodes/{node_id}/secrets': 1,
  'POST /api/v1/nodes/{node_id}/workloads/{workload_id}/status': 1,
  // The task with the answer it may have; then the workload, which the task names.
  'POST /api/v1/nodes/{node_id}/tasks/{task_id}/outcome': 2,
};

/** Where the caller is nobody yet, or somebody the gateway knows. */
const OPEN = new Set<string>(['public', 'iam']);

/** A token is signed with the key that is active, which a warm function knows. */
const SIGNING = new Set([
  'POST /api/v1/auth/service-account/token',
  'POST /api/v1/auth/sa/token',
  'POST /api/v1/auth/node/token',
]);

/** A warm function keeps the catalogue and asks only whether it still holds; one that has just started fetches it. */
const KEEPS_CATALOG = new Set([
  'GET /api/v1/apps/catalog',
  'GET /api/v1/projects/{project_id}/apps/catalog',
  'GET /api/v1/projects/{project_id}/apps/entitlements',
  'GET /api/v1/orgs/{org_id}/apps/entitlements',
]);

let world: World;
let counted: Counted[];

beforeAll(async () => {
  // Requests are counted, so none is made twice by chance.
  world = await openWorld({ roughness: SMOOTH });
  counted = await countRequests(world);
});

afterAll(() => world.close());

const named = (each: Counted[], value: (counted: Counted) => unknown): Record<string, unknown> =>
  Object.fromEntries(each.map((counted) => [counted.name, value(counted)]));

describe('DynamoDB requests', () => {
  test('are counted for every route', () => {
    expect(new Set(counted.map(({ route }) => route))).toEqual(new Set(routesAsked));
  });

  test('are one for a read on a warm function, and none where there is nothing to read', () => {
    const reads = counted.filter(({ kind }) => kind === 'read');
    expect(named(reads, ({ warm }) => warm)).toEqual(
      named(reads, ({ name }) => ({
        reads: READ_NOTHING.has(name) ? 0 : (READS_MORE[name] ?? 1),
        transactions: 0,
      })),
    );
  });

  test('are one transaction for a command, and the reads its rules need', () => {
    const commands = counted.filter(({ kind }) => kind === 'command');
    expect(named(commands, ({ warm }) => warm)).toEqual(
      named(commands, ({ name }) => ({ reads: READS_OF_RULES[name], transactions: 1 })),
    );
  });

  test('are one write for what a host reports', () => {
    const reports = counted.filter(({ kind }) => kind === 'report');
    expect(named(reports, ({ warm }) => warm)).toEqual(
      named(reports, () => ({ reads: 0, transactions: 0, updates: 1 })),
    );
  });

  test('are none for authorization on a warm function, and one on a cold one', () => {
    const knowsCaller = ({ route }: Counted): boolean => !OPEN.has(routes[route].permission);
    expect(named(counted, ({ authorization }) => authorization)).toEqual(
      named(counted, (each) => ({ warm: 0, cold: knowsCaller(each) ? 1 : 0 })),
    );
    expect(named(counted, ({ cold }) => cold)).toEqual(
      named(counted, ({ warm, authorization, name }) => ({
        ...warm,
        reads: warm.reads + authorization.cold + (SIGNING.has(name) || KEEPS_CATALOG.has(name) ? 1 : 0),
      })),
    );
  });
});
