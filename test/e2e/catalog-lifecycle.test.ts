import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../until.ts';
import {
  type Answer,
  awaitPeopleAtSmoke,
  call,
  createPlace,
  done,
  join,
  type Person,
  type Place,
} from './people.ts';

// An app from the first dry run to the retirement of a version, over HTTP, by the people whose work each step is. It
// has no artifacts: a controller of the app team's own brings it up, so nothing needs to be pushed to promote it.

interface Problem {
  code: string;
  detail?: string;
  errors?: { pointer: string; detail: string; hint?: string }[];
}
interface Submission extends Problem {
  id: string;
  status: string;
  version: number;
  notes?: string;
}
interface Promotion extends Problem {
  status: string;
  step: string;
  version_status: string;
  waiting_for: string | null;
  smoke?: { gate: string };
  gates: { lint?: { verdict: string }; smoke?: { verdict: string; by: string } };
  canary?: { project_ids?: string[]; bake_until?: string };
}
interface ProjectApp {
  slug: string;
  entitled: boolean;
  launchable: boolean;
  launch_version: string | null;
  reasons: { code: string; detail: string; hint: string }[];
}
interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

const slug = `cluster-${randomUUID().slice(0, 8)}`;
const YAML = { 'content-type': 'application/yaml' };

let place: Place;
let elsewhere: Place;

const project = (path: string): string => `/api/v1/projects/${place.project_id}/apps${path}`;
const review = (id: string, verb: string): string => `/api/v1/admin/apps/submissions/${id}/${verb}`;
const ofVersion = (version: string, app = slug): string => `/api/v1/apps/catalog/${app}/versions/${version}`;
const admin = (version: string, verb: string): string =>
  `/api/v1/admin/apps/catalog/${slug}/versions/${version}/${verb}`;

/** A cluster whose controller polls for what there is to do. */
const manifest = (version: string, { app = slug, more = '' } = {}): string => `
app:
  slug: ${app}
  display_name: Cluster
  description: A scheduler over several allocations.
  category: scheduler
  runtime_backend: slurm
  supported_modes:
    operating_modes: [tenant_dedicated]
    control_plane_scopes: [project]
version:
  version: ${version}
  release_notes: Release ${version}.
  external_worker_contract:
    delivery: polling
    root:
      component_key: controller
      allocation_id_key: controller_allocation_id
      requested_phase: controller_requested
      bound_phase: controller_allocation_bound
${more}`;

const PARAMETERS = `  parameters:
    type: object
    properties:
      partition: { type: string, default: batch }
`;

const sendManifest = <T>(as: Person, path: string, text: string): Promise<Answer<T>> =>
  call<T>('POST', path, { as, body: text, headers: YAML });

async function submit(as: Person, text: string): Promise<Submission> {
  const answer = await sendManifest<Submission>(as, project('/manifests'), text);
  expect(answer.status, answer.text).toBe(201);
  expect(answer.headers.location).toBe(project(`/submissions/${answer.body.id}`));
  return answer.body;
}

const promotionOf = async (version: string): Promise<Promotion> =>
  (await call<Promotion>('GET', `${ofVersion(version)}/promotion`, { as: 'developer' })).body;

/** How the promotion of a version stands once it has come that far. */
const promotionAt = (version: string, step: string): Promise<Promotion> =>
  until(async () => {
    const promotion = await promotionOf(version);
    return promotion.step === step && promotion;
  }, `${slug} ${version} at ${step}`);

async function appIn({ project_id }: Place, as: Person, app = slug): Promise<ProjectApp | undefined> {
  const path = `/api/v1/projects/${project_id}/apps/catalog?search=${app}`;
  return (await done<Page<ProjectApp>>('GET', path, { as })).items.find((each) => each.slug === app);
}

const reasonsIn = async (where: Place, as: Person): Promise<string[]> =>
  ((await appIn(where, as))?.reasons ?? []).map(({ code }) => code);

beforeAll(async () => {
  await awaitPeopleAtSmoke();
  place = await createPlace('catalog');
  const { org_id, project_id } = place;
  await join('owner', { org_id, project_id, role: 'project_admin' });
  await join('developer', { org_id, project_id, role: 'app_developer' });
  elsewhere = await createPlace('catalog-elsewhere');
  await join('outsider', { org_id: elsewhere.org_id, role: 'org_admin' });
});

describe('a manifest', () => {
  test('is checked without consequences, and every problem told at once', async () => {
    const broken = manifest('not a version', { more: '  metering: { kind: applause }\n' });
    const { status, body } = await sendManifest<{ valid: boolean; problems: Problem['errors'] }>(
      'developer',
      project('/manifests/validate'),
      broken,
    );
    expect(status).toBe(200);
    expect(body.valid).toBe(false);
    expect(body.problems?.map(({ pointer }) => pointer).sort()).toEqual([
      '/version/metering/kind',
      '/version/version',
    ]);
    expect(await call('GET', `/api/v1/apps/catalog/${slug}`, { as: 'developer' })).toMatchObject({
      status: 404,
      body: { code: 'app.unknown' },
    });
  });

  test('is read the same from YAML and from JSON', async () => {
    const yaml = await sendManifest<{ valid: boolean; manifest: object }>(
      'developer',
      project('/manifests/validate'),
      manifest('1.0.0'),
    );
    expect(yaml.body.valid, yaml.text).toBe(true);
    const json = await call('POST', project('/manifests/validate'), {
      as: 'developer',
      body: yaml.body.manifest,
    });
    expect(json.body).toEqual(yaml.body);
  });

  test('that is wrong is not accepted, and what was sent is not repeated', async () => {
    const planted = `planted-${randomUUID()}`;
    const { status, body, text } = await sendManifest<Problem>(
      'developer',
      project('/manifests'),
      manifest('1.0.0', { more: `  topology: ${planted}\n` }),
    );
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'manifest.invalid' });
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['/version/topology']);
    expect(text).not.toContain(planted);
  });
});

describe('a submission', () => {
  let submission: Submission;

  test('waits for a reviewer, and is no version yet', async () => {
    submission = await submit('developer', manifest('1.0.0'));
    expect(submission.status).toBe('submitted');
    const queue = await done<Page<Submission>>('GET', '/api/v1/admin/apps/submissions?limit=100', {
      as: 'admin',
    });
    expect(queue.items.map(({ id }) => id)).toContain(submission.id);
    expect((await call('GET', ofVersion('1.0.0'), { as: 'developer' })).status).toBe(404);
  });

  test('is nothing that somebody else can see or decide', async () => {
    const path = project(`/submissions/${submission.id}`);
    expect((await call('GET', path, { as: 'outsider' })).body).toMatchObject({ code: 'project.unknown' });
    const foreign = `/api/v1/projects/${elsewhere.project_id}/apps/submissions/${submission.id}`;
    expect((await call('GET', foreign, { as: 'outsider' })).body).toMatchObject({
      code: 'submission.unknown',
    });
    for (const as of ['developer', 'owner', 'outsider'] as const) {
      const asked = await call('POST', review(submission.id, 'approve'), { as, body: {} });
      expect(asked.body).toMatchObject({ code: 'permission.denied' });
    }
  });

  test('of their own nobody approves, whatever they may', async () => {
    const own = await submit('admin', manifest('0.1.0', { app: `own-${slug}` }));
    const asked = await call('POST', review(own.id, 'approve'), { as: 'admin', body: {} });
    expect(asked).toMatchObject({ status: 403, body: { code: 'submission.own' } });
    const withdrawn = await done<Submission>('POST', project(`/submissions/${own.id}/withdraw`), {
      as: 'admin',
      body: {},
    });
    expect(withdrawn.status).toBe('withdrawn');
  });

  test('goes back with notes, comes again, and is approved once', async () => {
    const notes = 'Say which partition jobs go to.';
    const back = await done<Submission>('POST', review(submission.id, 'request-changes'), {
      as: 'admin',
      body: { notes },
    });
    expect(back).toMatchObject({ status: 'changes_requested', notes });
    const path = project(`/submissions/${submission.id}`);
    const revised = manifest('1.0.0', { more: PARAMETERS });
    const stale = await call('PUT', path, {
      as: 'developer',
      body: revised,
      headers: { ...YAML, 'if-match': `"${submission.version}"` },
    });
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition.failed' } });
    const again = await done<Submission>('PUT', path, {
      as: 'developer',
      body: revised,
      headers: { ...YAML, 'if-match': `"${back.version}"` },
    });
    expect(again.status).toBe('submitted');
    const approved = await done<Submission>('POST', review(submission.id, 'approve'), {
      as: 'admin',
      body: { notes: 'Fine.' },
    });
    expect(approved.status).toBe('approved');
    const twice = await call('POST', review(submission.id, 'reject'), { as: 'admin', body: { notes } });
    expect(twice.body).toMatchObject({ code: 'submission.decided' });
  });

  test('that was approved is a version in draft, of the project that submitted it', async () => {
    const version = await done<{ status: string; manifest: { version: { parameters: object } } }>(
      'GET',
      ofVersion('1.0.0'),
      { as: 'developer' },
    );
    expect(version).toMatchObject({
      status: 'draft',
      manifest: { version: { parameters: { properties: { partition: { default: 'batch' } } } } },
    });
    const taken = await sendManifest<Problem>(
      'outsider',
      `/api/v1/projects/${elsewhere.project_id}/apps/manifests`,
      manifest('9.0.0'),
    );
    expect(taken).toMatchObject({ status: 409, body: { code: 'app.slug_taken' } });
  });
});

describe('an entitlement', () => {
  const body = {
    enabled: true,
    policy_overrides: { allowed_operating_modes: ['tenant_dedicated'], max_instances: 5 },
  };

  test('is what the project’s catalogue misses first', async () => {
    expect(await appIn(place, 'developer')).toMatchObject({ entitled: false, launchable: false });
    expect(await reasonsIn(place, 'developer')).toEqual(['entitlement.missing', 'version.none_active']);
  });

  test('is given by who administers the project, and nobody else', async () => {
    const path = project(`/entitlements/${slug}`);
    expect((await call('PUT', path, { as: 'developer', body })).body).toMatchObject({
      code: 'permission.denied',
    });
    expect((await call('PUT', path, { as: 'outsider', body })).body).toMatchObject({
      code: 'project.unknown',
    });
    const given = await call('PUT', path, { as: 'owner', body });
    expect(given).toMatchObject({ status: 200, headers: { etag: '"1"' }, body: { enabled: true } });
    expect(await reasonsIn(place, 'developer')).toEqual(['version.none_active']);
  });

  test('can be narrowed by the organisation, and no wider than that be given', async () => {
    const path = `/api/v1/orgs/${place.org_id}/apps/entitlements/${slug}`;
    const narrow = { enabled: true, policy_overrides: { max_instances: 3 } };
    await done('PUT', path, { as: 'admin', body: narrow });
    const entitlement = await done('GET', project(`/entitlements/${slug}`), { as: 'owner' });
    expect(entitlement).toMatchObject({
      policy_overrides: { max_instances: 5 },
      effective: { max_instances: 3 },
    });
    const wider = await call<Problem>('PUT', project(`/entitlements/${slug}`), { as: 'owner', body });
    expect(wider).toMatchObject({ status: 409, body: { code: 'entitlement.wider_than_org' } });
    expect(wider.body.errors?.map(({ pointer }) => pointer)).toEqual(['/policy_overrides/max_instances']);
  });
});

describe('a promotion', () => {
  const reason = 'The first release.';

  /** Through lint and smoke: it waits at the smoke run, and goes on when a platform admin has answered. */
  async function passSmoke(version: string): Promise<void> {
    const waiting = await promotionAt(version, 'awaiting_smoke');
    expect(waiting.smoke).toEqual({ gate: 'person' });
    expect(waiting.waiting_for).toContain(`POST ${admin(version, 'smoke')}`);
    expect(waiting.gates.lint).toMatchObject({ verdict: 'passed' });
    const body = { verdict: 'passed', notes: 'A job ran to its end.' };
    await done('POST', admin(version, 'smoke'), { as: 'admin', body });
  }

  test('is asked for by the platform’s admins only', async () => {
    for (const as of ['developer', 'owner', 'outsider'] as const) {
      const asked = await call('POST', admin('1.0.0', 'publish'), { as, body: { reason } });
      expect(asked.body).toMatchObject({ code: 'permission.denied' });
    }
    const before = await call('GET', `${ofVersion('1.0.0')}/promotion`, { as: 'developer' });
    expect(before.body).toMatchObject({ code: 'promotion.unknown' });
  });

  test('publishes a version through lint, smoke, staged and canary, and skips none', async () => {
    const canary = { percent: 0, project_ids: [place.project_id] };
    const asked = await call<Promotion>('POST', admin('1.0.0', 'publish'), {
      as: 'admin',
      body: { reason, canary, bake_seconds: 1 },
    });
    expect(asked.status, asked.text).toBe(202);
    expect(asked.headers.location).toBe(`${ofVersion('1.0.0')}/promotion`);
    const twice = await call('POST', admin('1.0.0', 'publish'), { as: 'admin', body: { reason } });
    expect(twice.body).toMatchObject({ code: 'promotion.in_progress' });

    await passSmoke('1.0.0');
    const ended = await promotionAt('1.0.0', 'ended');
    expect(ended).toMatchObject({ status: 'succeeded', version_status: 'active', waiting_for: null });
    expect(await appIn(place, 'developer')).toMatchObject({
      entitled: true,
      launchable: true,
      launch_version: '1.0.0',
      reasons: [],
    });
  });

  test('is nothing that somebody else can follow', async () => {
    const asked = await call('GET', `${ofVersion('1.0.0')}/promotion`, { as: 'outsider' });
    expect(asked).toMatchObject({ status: 404, body: { code: 'promotion.unknown' } });
    const seen = await promotionOf('1.0.0');
    // Whom the platform chose for the canary is not the publisher's to know.
    expect(seen.canary).toBeDefined();
    expect(seen.canary).not.toHaveProperty('project_ids');
  });

  test('of the next version reaches only the projects of its canary', async () => {
    const foreign = `/api/v1/projects/${elsewhere.project_id}/apps/entitlements/${slug}`;
    await done('PUT', foreign, { as: 'outsider', body: { enabled: true } });
    const registered = await sendManifest<Problem>(
      'admin',
      '/api/v1/admin/apps/manifests',
      manifest('1.1.0'),
    );
    expect(registered.status, registered.text).toBeLessThan(300);
    const canary = { percent: 0, project_ids: [place.project_id] };
    await done('POST', admin('1.1.0', 'promote'), {
      as: 'admin',
      body: { target: 'canary', canary, reason: 'To see how it does.' },
    });
    await passSmoke('1.1.0');
    expect(await promotionAt('1.1.0', 'ended')).toMatchObject({
      status: 'succeeded',
      version_status: 'canary',
    });
    expect(await appIn(place, 'developer')).toMatchObject({ launch_version: '1.1.0' });
    expect(await appIn(elsewhere, 'outsider')).toMatchObject({ launchable: true, launch_version: '1.0.0' });
  });

  test('goes back to staged at once when somebody rolls it back', async () => {
    const back = await done<{ status: string }>('POST', admin('1.1.0', 'rollback'), {
      as: 'admin',
      body: { reason: 'Jobs hang.' },
    });
    expect(back.status).toBe('staged');
    expect(await appIn(place, 'developer')).toMatchObject({ launch_version: '1.0.0' });
    const twice = await call('POST', admin('1.1.0', 'rollback'), { as: 'admin', body: { reason } });
    expect(twice.body).toMatchObject({ code: 'version.wrong_status' });
  });

  test('supersedes the version that was active', async () => {
    await done('POST', admin('1.1.0', 'publish'), {
      as: 'admin',
      body: { reason: 'It was the network.', bake_seconds: 0 },
    });
    expect(await promotionAt('1.1.0', 'ended')).toMatchObject({ status: 'succeeded' });
    expect(await done('GET', `/api/v1/apps/catalog/${slug}`, { as: 'viewer' })).toMatchObject({
      active_version: '1.1.0',
      versions: [
        { version: '1.1.0', status: 'active' },
        { version: '1.0.0', status: 'deprecated' },
      ],
    });
    expect(await appIn(elsewhere, 'outsider')).toMatchObject({ launch_version: '1.1.0' });
  });

  test('leaves the difference of two versions to be read, with what breaks', async () => {
    const { changes } = await done<{ changes: { pointer: string; breaking: boolean }[] }>(
      'GET',
      `${ofVersion('1.0.0')}/diff/1.1.0`,
      { as: 'viewer' },
    );
    const breaking = changes.filter((change) => change.breaking).map(({ pointer }) => pointer);
    expect(breaking.some((pointer) => pointer.startsWith('/version/parameters'))).toBe(true);
  });
});

describe('the end of a version', () => {
  test('begins with its deprecation: nobody launches it any more', async () => {
    const retired = await call('POST', admin('1.1.0', 'retire'), {
      as: 'admin',
      body: { reason: 'Too soon.' },
    });
    expect(retired.body).toMatchObject({ code: 'version.wrong_status' });
    const deprecated = await done<{ status: string }>('POST', admin('1.1.0', 'deprecate'), {
      as: 'admin',
      body: { reason: 'Replaced by another app.', grace_seconds: 0 },
    });
    expect(deprecated.status).toBe('deprecated');
    expect(await reasonsIn(place, 'developer')).toEqual(['version.none_active']);
  });

  test('comes when its grace is over and nothing runs it', async () => {
    const asked = await call('POST', admin('1.1.0', 'retire'), {
      as: 'admin',
      body: { reason: 'Nobody uses it.' },
    });
    expect(asked.status, asked.text).toBe(202);
    expect(await promotionAt('1.1.0', 'ended')).toMatchObject({
      status: 'succeeded',
      version_status: 'retired',
    });
    expect(await done('GET', `/api/v1/apps/catalog/${slug}`, { as: 'viewer' })).toMatchObject({
      active_version: null,
      versions: [{ version: '1.0.0', status: 'deprecated' }],
    });
  });
});

describe('what is told afterwards', () => {
  const WAY = ['draft', 'staged', 'canary', 'staged', 'canary', 'active', 'deprecated', 'retired'];

  test('the audit replays every status a version had, with reason and who asked', async () => {
    const subject = encodeURIComponent(`app_version:${slug}@1.1.0`);
    const path = `/api/v1/projects/${place.project_id}/audit?limit=100&subject=${subject}`;
    const { items } = await done<
      Page<{ actor: string; before?: { status: string }; after: { status: string }; reason?: string }>
    >('GET', path, { as: 'owner' });
    const rows = items.toReversed();
    expect(rows.map(({ after }) => after.status)).toEqual(WAY);
    expect(rows.map(({ before }) => before?.status)).toEqual([undefined, ...WAY.slice(0, -1)]);
    const { id } = await done<{ id: string }>('GET', '/api/v1/me', { as: 'admin' });
    for (const { actor } of rows) expect(actor).toBe(`user:${id}`);
    for (const { reason } of rows.slice(1)) expect(reason).toEqual(expect.any(String));
  });

  test('the project’s events say the same, in order', async () => {
    const types = await until(async () => {
      const path = `/api/v1/projects/${place.project_id}/events?limit=100`;
      const { items } = await done<Page<{ type: string; data: Record<string, unknown> }>>('GET', path, {
        as: 'developer',
      });
      const told = items.filter(({ data }) => data['app_slug'] === slug && data['app_version'] === '1.1.0');
      const moves = told.map(({ type }) => type).filter((type) => !/promotion|smoke/.test(type));
      return moves.at(-1) === 'apps.version.retired' && moves;
    }, 'the event of the retirement');
    expect(types).toEqual([
      'apps.version.registered',
      'apps.version.staged',
      'apps.version.canary_began',
      'apps.version.rolled_back',
      'apps.version.canary_began',
      'apps.version.activated',
      'apps.version.deprecated',
      'apps.version.retired',
    ]);
  });
});

describe('a version for internal testing', () => {
  const hidden = `hidden-${slug}`;

  beforeAll(async () => {
    const text = manifest('0.1.0', { app: hidden, more: '  internal_testing: true\n' });
    const { id } = await submit('developer', text);
    await done('POST', review(id, 'approve'), { as: 'admin', body: {} });
  });

  test('is seen by its publisher', async () => {
    expect((await call('GET', `/api/v1/apps/catalog/${hidden}`, { as: 'developer' })).status).toBe(200);
    expect(await appIn(place, 'owner', hidden)).toMatchObject({ slug: hidden, entitled: false });
  });

  test('is not there for anybody else', async () => {
    const paths = ['', '/versions', '/versions/0.1.0', '/versions/0.1.0/diff/0.1.0'];
    for (const path of paths) {
      const asked = await call('GET', `/api/v1/apps/catalog/${hidden}${path}`, { as: 'outsider' });
      expect(asked.status, path).toBe(404);
    }
    const list = await done<Page<{ slug: string }>>('GET', `/api/v1/apps/catalog?search=${hidden}`, {
      as: 'outsider',
    });
    expect(list.items).toEqual([]);
    expect(await appIn(elsewhere, 'outsider', hidden)).toBeUndefined();
    const entitlement = await call(
      'PUT',
      `/api/v1/projects/${elsewhere.project_id}/apps/entitlements/${hidden}`,
      { as: 'outsider', body: { enabled: true } },
    );
    expect(entitlement).toMatchObject({ status: 404, body: { code: 'app.unknown' } });
  });
});
