import { digestManifest } from '../../functions/manifests/digest-manifest.ts';
import { requireManifest } from '../../functions/manifests/sent-manifest.ts';
import { planSubmission, type Submission } from '../../functions/manifests/submission.ts';
import { insertSubmission } from '../../functions/manifests/submission-store.ts';
import { subjectOfVersion, type Version } from '../../functions/catalog/version.ts';
import type { Project } from '../../functions/identity/project.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import {
  type Command,
  FIRST_VERSION,
  inProject,
  onPlatform,
  PROJECT,
  readProject,
  tell,
} from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { releaseVersion } from '../catalog/released.ts';
import { onBackend, sampleManifest } from './sample-manifest.ts';

const ADMIN_SUBMISSION = '/api/v1/admin/apps/submissions/{submission_id}';
const PROJECT_SUBMISSION = `${PROJECT}/apps/submissions/{submission_id}` as const;

/** Made with the domain's own rules and writes, but not by a call. */
async function submission(of: Project): Promise<Submission> {
  const manifest = requireManifest(sampleManifest());
  const handedIn = { manifest, digest: digestManifest(manifest), actor: 'user:somebody' };
  const planned = planSubmission(newId(), of, handedIn, new Date());
  await commit(insertSubmission(planned, manifest));
  return planned;
}

/** A version in the catalogue, of the platform, that everybody sees. */
const registered = (): Promise<Version> => releaseVersion({ status: 'staged' });

const subjectOf = ({ app, version }: ReturnType<typeof sampleManifest>): string =>
  subjectOfVersion(String(app['slug']), String(version['version']));

/** By a platform admin, about what a project handed in: it is told there. */
const review =
  (body: { notes?: string }, registers = false) =>
  async (scene: Scene) => {
    const { project } = await scene.place();
    const reviewer = await scene.platformAdmin();
    const { id, app_slug, app_version } = await submission(project);
    const call = { params: { submission_id: id }, body, token: reviewer.token };
    return tell(
      {
        call,
        subject: `submission:${id}`,
        ...(registers && { also: [subjectOfVersion(app_slug, app_version)] }),
        refused: { call, code: 'submission.decided' },
      },
      `user:${reviewer.id}`,
      { org_id: project.org_id, project_id: project.id },
    );
  };

export const manifestCommands: Command[] = [
  {
    route: 'POST /api/v1/admin/apps/manifests',
    how: 'for the platform',
    prepare: onPlatform(async (_, token) => {
      const body = sampleManifest();
      const moved = onBackend(body, 'bare_metal');
      return {
        call: { body, token },
        subject: subjectOf(body),
        refused: { call: { body: moved, token }, code: 'app.backend_fixed' },
      };
    }),
  },
  {
    route: 'POST /api/v1/admin/apps/manifests',
    how: 'for a project',
    prepare: async (scene) => {
      const { project } = await scene.place();
      const { project: other } = await scene.place();
      const { id, token } = await scene.platformAdmin();
      const body = sampleManifest();
      return tell(
        {
          call: { query: { project_id: project.id }, body, token },
          subject: subjectOf(body),
          refused: { call: { query: { project_id: other.id }, body, token }, code: 'app.slug_taken' },
        },
        `user:${id}`,
        { org_id: project.org_id, project_id: project.id },
      );
    },
  },
  {
    route: 'POST /api/v1/admin/apps/manifests',
    how: 'with several versions',
    prepare: onPlatform(async (_, token) => {
      const { app, version } = sampleManifest();
      const next = { ...version, version: '1.1.0' };
      const call = { body: { app, versions: [version, next] }, token };
      return {
        call,
        subject: subjectOf({ app, version }),
        also: [subjectOf({ app, version: next })],
        refused: {
          call: { ...call, body: onBackend({ app, version }, 'bare_metal') },
          code: 'app.backend_fixed',
        },
      };
    }),
  },
  {
    route: `POST ${PROJECT}/apps/manifests`,
    prepare: inProject(async (scene, { project, admin }) => {
      const call = { params: { project_id: project.id }, body: sampleManifest(), token: admin.token };
      const { slug } = await scene.app();
      return {
        call,
        subject: ({ id }) => `submission:${id}`,
        refused: { call: { ...call, body: sampleManifest({ slug }) }, code: 'app.slug_taken' },
      };
    }),
  },
  {
    route: `PUT ${PROJECT_SUBMISSION}`,
    prepare: inProject(async (_, { project, admin }) => {
      const { id } = await submission(project);
      const params = { project_id: project.id, submission_id: id };
      const call = { params, body: sampleManifest(), token: admin.token };
      return {
        call,
        subject: `submission:${id}`,
        refused: { call: { ...call, headers: FIRST_VERSION }, code: 'precondition.failed' },
      };
    }),
  },
  {
    route: `POST ${PROJECT_SUBMISSION}/withdraw`,
    prepare: inProject(async (_, { project, admin }) => {
      const { id } = await submission(project);
      const call = { params: { project_id: project.id, submission_id: id }, token: admin.token };
      return { call, subject: `submission:${id}`, refused: { call, code: 'submission.decided' } };
    }),
  },
  { route: `POST ${ADMIN_SUBMISSION}/approve`, prepare: review({}, true) },
  { route: `POST ${ADMIN_SUBMISSION}/reject`, prepare: review({ notes: 'Not this.' }) },
  { route: `POST ${ADMIN_SUBMISSION}/request-changes`, prepare: review({ notes: 'Almost.' }) },
];

export const manifestReads = {
  'GET /api/v1/apps/catalog/{app_slug}/versions': async (scene) => ({
    params: { app_slug: (await registered()).app_slug },
    token: (await scene.person()).token,
  }),
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}': async (scene) => {
    const { app_slug, version } = await registered();
    return { params: { app_slug, version }, token: (await scene.person()).token };
  },
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/diff/{other_version}': async (scene) => {
    const { app_slug, version } = await registered();
    return { params: { app_slug, version, other_version: version }, token: (await scene.person()).token };
  },
  'POST /api/v1/admin/apps/manifests/validate': async (scene) => ({
    body: sampleManifest(),
    token: (await scene.platformAdmin()).token,
  }),
  'POST /api/v1/projects/{project_id}/apps/manifests/validate': async (scene) => ({
    ...(await readProject(scene)),
    body: sampleManifest(),
  }),
  'GET /api/v1/projects/{project_id}/apps/submissions': readProject,
  'GET /api/v1/projects/{project_id}/apps/submissions/{submission_id}': async (scene) => {
    const { project, admin } = await scene.place();
    const { id } = await submission(project);
    return { params: { project_id: project.id, submission_id: id }, token: admin.token };
  },
  'GET /api/v1/admin/apps/submissions': async (scene) => ({ token: (await scene.platformAdmin()).token }),
  'GET /api/v1/admin/apps/submissions/{submission_id}': async (scene) => {
    const { project } = await scene.place();
    const { id } = await submission(project);
    return { params: { submission_id: id }, token: (await scene.platformAdmin()).token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
