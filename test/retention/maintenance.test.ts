import { isDeepStrictEqual } from 'node:util';
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DRAFT_SECONDS_MAX,
  VERIFY_EVERY_SECONDS,
  VERIFY_LOST_EVERY_SECONDS,
} from '../../functions/artifacts/artifact-due.ts';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { findAnyArtifact } from '../../functions/artifacts/find-artifact.ts';
import { contentKey, dueKey } from '../../functions/artifacts/keys.ts';
import { appKey, versionKey } from '../../functions/catalog/keys.ts';
import { artifactKey } from '../../functions/catalog/readiness.ts';
import type { Project } from '../../functions/identity/project.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import { listDue, postponeDue } from '../../functions/retention/due-store.ts';
import { maintenance } from '../../functions/retention/maintain-artifacts.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { promoteOne } from '../artifacts/promoted.ts';
import { withoutBucket } from '../storage/absent-bucket.ts';
import { until } from '../until.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let world: World;
let scene: Scene;
let admin: string;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  admin = (await scene.platformAdmin()).token;
});

afterAll(() => world.close());

/** A run of the care, so many seconds from now: whatever is listed late is listed by then. */
async function care(seconds = 0): Promise<void> {
  await until(isListed, 'the index to show what is due');
  await runSweep({ ...createContext(newId()), now: () => secondsAfter(new Date(), seconds) }, maintenance);
}

async function isListed(): Promise<boolean> {
  const nameOf = (id: unknown, at: unknown) => `${String(id)} ${String(at)}`;
  const rows = (await world.items('ARTIFACT#')).filter(({ sk }) => sk === 'DUE');
  const listed = (await listDue()).map(({ artifact_id, due_at }) => nameOf(artifact_id, due_at));
  const stored = rows.map(({ artifact_id, gsi1sk }) => nameOf(artifact_id, gsi1sk));
  return isDeepStrictEqual(listed.toSorted(), stored.toSorted());
}

async function artifact(id: string): Promise<Artifact> {
  const found = await findAnyArtifact(id);
  if (!found) throw new Error(`There is no artifact ${id}.`);
  return found;
}

const auditsOf = async (id: string) =>
  (await world.items('AUDIT#')).filter(({ subject }) => String(subject).endsWith(id));

const eventsOf = async (id: string): Promise<PlatformEvent[]> =>
  (await world.items('OUTBOX#'))
    .map(({ event }) => event as PlatformEvent)
    .filter(({ data }) => data['artifact_id'] === id);

/** A signed file of its own, registered and brought so far. */
async function signed(of: Project, stated: Partial<Artifact> = {}): Promise<Artifact> {
  const file = await scene.file(of, { signed: true, ...stated });
  return scene.artifact(of, { lifecycle_state: 'active', trust_state: 'verified', ...file, ...stated });
}

/** The app and the version it belongs to, which launches look at. */
async function bind(
  of: Project,
  { repository, digest, artifact_name }: Artifact,
  slug: string,
): Promise<void> {
  await world.put({
    ...versionKey(slug, '1.0.0'),
    app_slug: slug,
    version: '1.0.0',
    status: 'active',
    internal: false,
    owner: { org_id: of.org_id, project_id: of.id },
    artifacts: [{ name: artifact_name, artifact_kind: 'blob', repository, digest }],
    release_notes: '',
    manifest_digest: 'sha256:of-a-manifest',
    registered_by: 'user:somebody',
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
  });
}

async function untrustedIn(slug: string): Promise<unknown> {
  const app = (await world.get(appKey(slug))) as { versions: Record<string, { untrusted?: unknown }> };
  return app.versions['1.0.0']?.untrusted;
}

describe('an artifact that holds', () => {
  test('is looked at each day, and nobody hears of it', async () => {
    const { project } = await scene.place();
    const { id } = await signed(project);
    await care(VERIFY_EVERY_SECONDS - 60);
    const before = await artifact(id);
    expect(before.verification?.signer).toBeUndefined();
    await care(VERIFY_EVERY_SECONDS);
    const after = await artifact(id);
    expect(after).toMatchObject({
      trust_state: 'verified',
      lifecycle_state: 'active',
      verification: {
        verdict: 'verified',
        policy: { name: 'tests' },
        signer: { subject: expect.any(String) },
      },
    });
    expect(await auditsOf(id)).toEqual([]);
    expect(await eventsOf(id)).toEqual([]);
    // Again on the same day there is nothing to do.
    await care(VERIFY_EVERY_SECONDS + 60);
    expect(await artifact(id)).toEqual(after);
  });
});

describe('an artifact whose signer is revoked', () => {
  let of: Artifact;
  let slug: string;
  let revoked: { params: { fingerprint: string }; token: string };

  beforeAll(async () => {
    const { project } = await scene.place();
    ({ slug } = await scene.app(project, { status: 'active' }));
    of = await signed(project, { app_slug: slug });
    await bind(project, of, slug);
    await care(VERIFY_EVERY_SECONDS);
    const fingerprint = (await artifact(of.id)).verification?.signer?.fingerprint ?? '';
    revoked = { params: { fingerprint }, token: admin };
  });

  test('loses its trust within minutes, and new launches are blocked', async () => {
    const body = { reason: 'The key was on a stolen laptop' };
    const route = 'PUT /api/v1/admin/artifacts/revoked-certificates/{fingerprint}';
    expect((await world.call(route, { ...revoked, body })).status).toBe(200);
    await care(VERIFY_EVERY_SECONDS + 60);
    expect(await artifact(of.id)).toMatchObject({
      trust_state: 'unverified',
      lifecycle_state: 'active',
      verification: { verdict: 'refused', fault: { code: 'chain.revoked' } },
    });
    expect(await untrustedIn(slug)).toEqual({ weights: 'unverified' });
    expect(await auditsOf(of.id)).toMatchObject([
      {
        actor: 'platform:artifact-care',
        action: 'artifacts.artifact.reverify',
        project_id: of.project_id,
        before: { trust_state: 'verified' },
        after: { trust_state: 'unverified', fault: { code: 'chain.revoked' } },
      },
    ]);
    expect(await eventsOf(of.id)).toMatchObject([
      { type: 'apps.artifact.verification_failed', project_id: of.project_id },
    ]);
  });

  test('does so once, however often it is looked at', async () => {
    await care(VERIFY_EVERY_SECONDS + 120);
    await care(VERIFY_EVERY_SECONDS + 120 + VERIFY_LOST_EVERY_SECONDS);
    expect(await auditsOf(of.id)).toHaveLength(1);
    expect(await eventsOf(of.id)).toHaveLength(1);
  });

  test('finds it again when the certificate is restored', async () => {
    const route = 'DELETE /api/v1/admin/artifacts/revoked-certificates/{fingerprint}';
    expect((await world.call(route, revoked)).status).toBeLessThan(300);
    await care(VERIFY_EVERY_SECONDS + 180 + VERIFY_LOST_EVERY_SECONDS);
    expect(await artifact(of.id)).toMatchObject({
      trust_state: 'verified',
      verification: { verdict: 'verified' },
    });
    expect(await untrustedIn(slug)).toBeUndefined();
    expect((await eventsOf(of.id)).map(({ type }) => type)).toContain('apps.artifact.verified');
  });
});

describe('an artifact that cannot be looked at', () => {
  test('stays as it is while the store is away, and is looked at when that answers again', async () => {
    const { project } = await scene.place();
    const of = await signed(project);
    const before = await artifact(of.id);
    await withoutBucket(() => care(VERIFY_EVERY_SECONDS));
    expect(await artifact(of.id)).toEqual(before);
    expect(await world.get(dueKey(of.id))).toMatchObject({ tried_at: expect.any(String) });
    await care(VERIFY_EVERY_SECONDS);
    expect((await artifact(of.id)).verification?.signer).toBeDefined();
    expect(await world.get(dueKey(of.id))).not.toHaveProperty('tried_at');
  });

  test('loses its trust when it is gone', async () => {
    const { project } = await scene.place();
    const of = await signed(project);
    const { key, version_id } = of.object ?? { key: '', version_id: '' };
    await new S3Client(world.services.asOperator()).send(
      new DeleteObjectCommand({ Bucket: 'artifacts', Key: key, VersionId: version_id }),
    );
    await care(VERIFY_EVERY_SECONDS);
    expect((await artifact(of.id)).verification?.fault?.code).toBe('content.absent');
    expect((await artifact(of.id)).trust_state).toBe('unverified');
  });

  test('keeps none of the others waiting', async () => {
    const { project } = await scene.place();
    const broken = await signed(project);
    const well = await signed(project);
    await world.set(artifactKey(broken.id), 'object', 'not one');
    await care(VERIFY_EVERY_SECONDS);
    expect((await artifact(well.id)).verification?.signer).toBeDefined();
    await world.set(artifactKey(broken.id), 'object', broken.object);
  });
});

test('a revocation that comes in between wins', async () => {
  const { project } = await scene.place();
  const of = await signed(project);
  let hasCome = false;
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const isOurs = JSON.stringify(args.input).includes(of.id);
        if (commandName === 'TransactWriteItemsCommand' && isOurs && !hasCome) {
          hasCome = true;
          await world.set(artifactKey(of.id), 'trust_state', 'revoked');
          await world.set(artifactKey(of.id), 'revision', of.revision + 1);
        }
        return next(args);
      },
    { step: 'initialize', name: 'revokeInBetween' },
  );
  await care(VERIFY_EVERY_SECONDS);
  dynamo().middlewareStack.remove('revokeInBetween');
  expect(hasCome).toBe(true);
  expect((await artifact(of.id)).trust_state).toBe('revoked');
  expect(await auditsOf(of.id)).toEqual([]);
});

describe('a draft', () => {
  const OLD = DRAFT_SECONDS_MAX;

  test('is forgotten when nobody took it further for a month, once', async () => {
    const { project } = await scene.place();
    const of = await scene.artifact(project);
    await care(OLD - 60);
    expect(await findAnyArtifact(of.id)).toBeDefined();
    await care(OLD);
    await care(OLD);
    expect(await findAnyArtifact(of.id)).toBeUndefined();
    expect(await world.items(`ARTIFACT#${of.id}`)).toEqual([]);
    expect(await world.get(contentKey(of.digest, project.id))).not.toHaveProperty('artifact_ids');
    expect(await auditsOf(of.id)).toMatchObject([
      { action: 'artifacts.artifact.forget', actor: 'platform:artifact-care', before: { digest: of.digest } },
    ]);
    expect(await eventsOf(of.id)).toMatchObject([
      { type: 'apps.artifact.forgotten', project_id: project.id, data: { digest: of.digest } },
    ]);
  });

  test('that is gone, though an index may still list it, is left alone', async () => {
    const { project } = await scene.place();
    const of = await scene.artifact(project);
    const ctx = { ...createContext(newId()), now: () => secondsAfter(new Date(), OLD) };
    await until(isListed);
    const listed = [];
    for await (const due of await maintenance.find(ctx)) listed.push(due);
    await care(OLD);
    for (const due of listed) await maintenance.mend(ctx, due);
    expect(await world.items(`ARTIFACT#${of.id}`)).toEqual([]);
    expect(await eventsOf(of.id)).toHaveLength(1);
  });

  test('that was looked at meanwhile is not postponed', async () => {
    const { project } = await scene.place();
    const of = await scene.artifact(project);
    await world.set(dueKey(of.id), 'gsi1sk', secondsAfter(new Date(), 3600).toISOString());
    const row = await world.get(dueKey(of.id));
    await postponeDue(of.id, new Date());
    expect(await world.get(dueKey(of.id))).toEqual(row);
    await postponeDue(newId(), new Date());
    await postponeDue(of.id, secondsAfter(new Date(), 3600));
    expect(await world.get(dueKey(of.id))).not.toEqual(row);
  });

  test('is kept while a version names it, and looked at again another day', async () => {
    const { project } = await scene.place();
    const { slug } = await scene.app(project, { status: 'active' });
    const of = await scene.artifact(project, { app_slug: slug });
    await bind(project, of, slug);
    await care(OLD);
    expect(await artifact(of.id)).toEqual(of);
    const due = new Date(String((await world.get(dueKey(of.id)))?.['gsi1sk']));
    expect(due.getTime()).toBeGreaterThan(secondsAfter(new Date(), OLD + 3600).getTime());
    await world.set(versionKey(slug, '1.0.0'), 'artifacts', []);
    await care(OLD + VERIFY_EVERY_SECONDS + 60);
    expect(await findAnyArtifact(of.id)).toBeUndefined();
  });

  test('is kept while it is being promoted, and looked at again another day', async () => {
    const { project } = await scene.place();
    const of = await promoteOne(await scene.artifact(project));
    await care(OLD);
    expect(await artifact(of.id)).toEqual(of);
    const row = await world.get(dueKey(of.id));
    expect(row).not.toHaveProperty('tried_at');
    const due = new Date(String(row?.['gsi1sk']));
    expect(due.getTime()).toBeGreaterThan(secondsAfter(new Date(), OLD + 3600).getTime());
  });

  test('that a version comes to name at the last moment is kept', async () => {
    const { project } = await scene.place();
    const { slug } = await scene.app(project, { status: 'active' });
    const of = await scene.artifact(project, { app_slug: slug });
    let hasCome = false;
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const isOurs = JSON.stringify(args.input).includes(of.id);
          if (commandName === 'TransactWriteItemsCommand' && isOurs && !hasCome) {
            hasCome = true;
            await bind(project, of, slug);
          }
          return next(args);
        },
      { step: 'initialize', name: 'bindInBetween' },
    );
    await care(OLD);
    dynamo().middlewareStack.remove('bindInBetween');
    expect(hasCome).toBe(true);
    expect(await artifact(of.id)).toEqual(of);
  });
});
