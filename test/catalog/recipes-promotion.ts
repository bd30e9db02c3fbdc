import { subjectOfVersion, type Version } from '../../functions/catalog/version.ts';
import type { ProblemCode } from '../../functions/problems.ts';
import { type Body, type Command, onPlatform, tell } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { releaseAwaitingSmoke, releaseVersion } from './released.ts';

const VERSION = '/api/v1/admin/apps/catalog/{app_slug}/versions/{version}';
const REASON = { reason: 'It was tried and is good.' };

const paramsOf = ({ app_slug, version }: Version) => ({ app_slug, version });
const subjectOf = ({ app_slug, version }: Version): string => subjectOfVersion(app_slug, version);
const operationOf = ({ operation_id }: Body): string => `promotion:${operation_id}`;

/** By a platform admin, about a version of the platform's own; the same again is refused. */
const about = (
  release: () => Promise<Version>,
  body: Record<string, unknown>,
  code: ProblemCode,
  subject: 'version' | 'promotion',
) =>
  onPlatform(async (_, token) => {
    const version = await release();
    const call = { params: paramsOf(version), body, token };
    return {
      call,
      subject: subject === 'version' ? subjectOf(version) : operationOf,
      refused: { call, code },
    };
  });

/** The default, which neighbours go by too. */
const POLICY = { ...REASON, smoke: { gate: 'person' } };

export const promotionCommands: Command[] = [
  {
    route: 'PUT /api/v1/admin/apps/promotion-policy',
    prepare: onPlatform(async (_, token) => {
      const call = { body: POLICY, token };
      const stale = { ...call, headers: { 'if-match': '"0"' } };
      return { call, subject: 'promotion_policy', refused: { call: stale, code: 'precondition.failed' } };
    }),
  },
  {
    route: `POST ${VERSION}/promote`,
    prepare: about(
      () => releaseVersion(),
      { ...REASON, target: 'canary', canary: { percent: 5 } },
      'promotion.in_progress',
      'promotion',
    ),
  },
  {
    route: `POST ${VERSION}/promote`,
    how: 'of a project’s app',
    prepare: async (scene) => {
      const { project } = await scene.place();
      const admin = await scene.platformAdmin();
      const version = await releaseVersion({ owner: project, status: 'staged' });
      const call = { params: paramsOf(version), body: { ...REASON, target: 'active' }, token: admin.token };
      return tell(
        { call, subject: operationOf, refused: { call, code: 'promotion.in_progress' } },
        `user:${admin.id}`,
        { org_id: project.org_id, project_id: project.id },
      );
    },
  },
  {
    route: `POST ${VERSION}/publish`,
    prepare: about(() => releaseVersion(), REASON, 'promotion.in_progress', 'promotion'),
  },
  {
    route: `POST ${VERSION}/rollback`,
    prepare: about(() => releaseVersion({ status: 'canary' }), REASON, 'version.wrong_status', 'version'),
  },
  {
    route: `POST ${VERSION}/deprecate`,
    prepare: about(() => releaseVersion({ status: 'active' }), REASON, 'version.wrong_status', 'version'),
  },
  {
    route: `POST ${VERSION}/retire`,
    prepare: about(
      () => releaseVersion({ status: 'deprecated' }),
      REASON,
      'promotion.in_progress',
      'promotion',
    ),
  },
  {
    route: `POST ${VERSION}/smoke`,
    prepare: about(
      () => releaseAwaitingSmoke(),
      { verdict: 'passed', notes: 'It came up and answered.' },
      'promotion.not_waiting',
      'promotion',
    ),
  },
];

export const promotionReads = {
  'GET /api/v1/admin/apps/promotion-policy': async (scene) => ({
    token: (await scene.platformAdmin()).token,
  }),
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/promotion': async (scene) => {
    const { project, admin } = await scene.place();
    return {
      params: paramsOf(await releaseAwaitingSmoke({ owner: project })),
      token: admin.token,
    };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
