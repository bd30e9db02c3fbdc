import { type Artifact, subjectOfArtifact } from '../../functions/artifacts/artifact.ts';
import type { ProblemCode } from '../../functions/problems.ts';
import { type Body, type Command, inProject, PROJECT, tell } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { promoteOne } from './promoted.ts';

const ARTIFACT = `${PROJECT}/app-artifacts/{artifact_id}` as const;
const REASON = { reason: 'It was tried and is good.' };

const paramsOf = ({ project_id, id }: Artifact) => ({ project_id, artifact_id: id });
const operationOf = ({ operation_id }: Body): string => `promotion:${operation_id}`;

/** By a platform admin, about an artifact in some state; the same again is refused. */
const onArtifact = (
  verb: 'promote' | 'rollback' | 'deprecate' | 'retire',
  stated: Partial<Artifact>,
  body: Record<string, unknown>,
  code: ProblemCode,
): Command => ({
  route: `POST ${ARTIFACT}/${verb}`,
  prepare: async (scene) => {
    const { project } = await scene.place();
    const admin = await scene.platformAdmin();
    const artifact = await scene.artifact(project, { trust_state: 'verified', ...stated });
    const call = { params: paramsOf(artifact), body, token: admin.token };
    const isPromotion = verb === 'promote' || verb === 'retire';
    return tell(
      {
        call,
        subject: isPromotion ? operationOf : subjectOfArtifact(artifact),
        refused: { call, code },
      },
      `user:${admin.id}`,
      { org_id: project.org_id, project_id: project.id },
    );
  },
});

export const lifecycleCommands: Command[] = [
  {
    route: `POST ${ARTIFACT}/verify`,
    prepare: inProject(async (scene, { project, admin }) => {
      const artifact = await scene.artifact(project, await scene.file(project, { signed: true }));
      const other = await scene.artifact(project, { trust_state: 'revoked' });
      const { token } = admin;
      return {
        call: { params: paramsOf(artifact), token },
        subject: subjectOfArtifact(artifact),
        refused: { call: { params: paramsOf(other), token }, code: 'artifact.revoked' },
      };
    }),
  },
  onArtifact('promote', {}, { ...REASON, target: 'active', bake_seconds: 60 }, 'promotion.in_progress'),
  onArtifact('rollback', { lifecycle_state: 'canary' }, REASON, 'artifact.wrong_state'),
  onArtifact('deprecate', { lifecycle_state: 'active' }, REASON, 'artifact.wrong_state'),
  onArtifact('retire', { lifecycle_state: 'deprecated' }, REASON, 'promotion.in_progress'),
  {
    route: `POST ${ARTIFACT}/revoke`,
    prepare: inProject(async (scene, { project, admin }) => {
      const artifact = await scene.artifact(project);
      const { app_slug, digest } = artifact;
      const same = await scene.artifact(project, { app_slug, digest, artifact_name: 'other' });
      return {
        call: { params: paramsOf(artifact), body: { reason: 'It phones home.' }, token: admin.token },
        subject: subjectOfArtifact(artifact),
        also: [subjectOfArtifact(same)],
      };
    }),
  },
];

/** By the admin of its project, about an artifact that was promoted once. */
const readArtifact = async (scene: Scene): Promise<Call> => {
  const { project, admin } = await scene.place();
  const artifact = await promoteOne(await scene.artifact(project, { trust_state: 'verified' }));
  return { params: paramsOf(artifact), token: admin.token };
};

export const lifecycleReads = {
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promotion': readArtifact,
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/usage': readArtifact,
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke/dry-run': async (scene) => ({
    ...(await readArtifact(scene)),
    body: { reason: 'It phones home.', stop_instances: true },
  }),
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
