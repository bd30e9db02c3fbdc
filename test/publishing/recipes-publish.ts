import { type Intent, planIntent } from '../../functions/publishing/intent.ts';
import { insertIntent } from '../../functions/publishing/intent-store.ts';
import { signingRequirementsOf } from '../../functions/publishing/signing-requirements.ts';
import type { Project } from '../../functions/identity/project.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { makeOneTimeToken } from '../../functions/platform/auth/one-time-token.ts';
import { type Command, inProject, PROJECT } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';

const ARTIFACTS = `${PROJECT}/app-artifacts` as const;
const INTENTS = `${ARTIFACTS}/publish-intents` as const;

/** An intent for an image, with a token to unwrap its credential by. */
export async function announce(
  scene: Scene,
  project: Project,
  stated: Partial<Intent> = {},
): Promise<{ intent: Intent; token: string }> {
  const { token, tokenHash } = makeOneTimeToken();
  const signing = signingRequirementsOf('none', { revision: 0, policies: [], revoked: [] });
  const wanted = {
    app_slug: scene.slug(),
    app_version: '1.0.0',
    artifact_name: 'runtime',
    artifact_kind: 'oci',
    channel: 'dev',
    credential_ttl_seconds: 900,
  } as const;
  const by = { project, actor: 'user:somebody', signing };
  const planned = planIntent(newId(), wanted, by, new Date());
  const intent = { ...planned, registry_host: 'registry.invalid', token_hash: tokenHash, ...stated };
  await commit(insertIntent(intent));
  return { intent, token };
}

const wanted = (scene: Scene) => ({
  app_slug: scene.slug(),
  app_version: '1.2.0',
  artifact_name: 'runtime',
});

export const publishCommands: Command[] = [
  {
    route: `POST ${INTENTS}`,
    how: 'for an image',
    prepare: inProject(async (scene, { project, admin }) => {
      const call = { params: { project_id: project.id }, body: wanted(scene), token: admin.token };
      const { slug } = await scene.app((await scene.place()).project);
      const refused = { ...call, body: { ...call.body, app_slug: slug } };
      return {
        call,
        subject: ({ id }) => `publish_intent:${id as string}`,
        refused: { call: refused, code: 'app.slug_taken' },
      };
    }),
  },
  {
    route: `POST ${INTENTS}`,
    how: 'for a file',
    prepare: inProject(async (scene, { project, admin }) => {
      const body = { ...wanted(scene), artifact_kind: 'blob', source_type: 'artifact_store' };
      return {
        call: { params: { project_id: project.id }, body, token: admin.token },
        subject: ({ id }) => `publish_intent:${id as string}`,
      };
    }),
  },
  {
    route: `POST ${INTENTS}/{intent_id}/unwrap`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { intent, token } = await announce(scene, project);
      const call = {
        params: { project_id: project.id, intent_id: intent.id },
        body: { wrapping_token: token },
        token: admin.token,
      };
      const refused = { ...call, params: { ...call.params, intent_id: newId() } };
      return {
        call,
        subject: `publish_intent:${intent.id}`,
        refused: { call: refused, code: 'intent.unknown' },
      };
    }),
  },
  {
    route: `POST ${ARTIFACTS}`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { app_slug, app_version, artifact_name, artifact_kind, source_type, source_uri, digest } =
        await scene.file(project);
      const body = { app_slug, app_version, artifact_name, artifact_kind, source_type, source_uri, digest };
      const call = { params: { project_id: project.id }, body, token: admin.token };
      return {
        call,
        subject: ({ id }) => `artifact:${id as string}`,
        refused: { call, code: 'artifact.exists' },
      };
    }),
  },
];

export const publishReads = {
  'GET /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}': async (scene) => {
    const { project, admin } = await scene.place();
    const { intent } = await announce(scene, project);
    return { params: { project_id: project.id, intent_id: intent.id }, token: admin.token };
  },
  'GET /api/v1/projects/{project_id}/app-artifacts': async (scene) => {
    const { project, admin } = await scene.place();
    await scene.artifact(project);
    return { params: { project_id: project.id }, token: admin.token };
  },
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}': async (scene) => {
    const { project, admin } = await scene.place();
    const { id } = await scene.artifact(project);
    return { params: { project_id: project.id, artifact_id: id }, token: admin.token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
