import * as v from 'valibot';
import { decideMove, findRelease } from './keep-release.ts';
import { refuse } from './problems.ts';
import { VersionParams, VersionView, viewVersion } from './version.ts';
import { command } from '../platform/http/endpoint.ts';
import { rollBack } from '../promotion/promotion-steps.ts';
import { Reason } from '../promotion/promotion.ts';

export const rollBackVersion = command(
  {
    summary: 'Roll a version in canary back to staged, immediately',
    action: 'catalog.version.roll_back',
    params: VersionParams,
    body: v.strictObject({ reason: Reason }),
    reply: VersionView,
    refusals: ['app.unknown', 'version.unknown', 'version.wrong_status'],
  },
  async (ctx, { params, body }) => {
    const release = await findRelease(params);
    // A move from draft to staged is valid too, but it is not a rollback.
    if (release.version.status !== 'canary') {
      throw refuse('version.wrong_status', {
        detail: `The version is ${release.version.status}; only a version in canary can be rolled back.`,
      });
    }
    const promotion = release.promotion && rollBack(release.promotion, ctx.now());
    const { moved, decision } = decideMove(release, { to: 'staged' }, promotion, ctx.now(), {
      reason: body.reason,
    });
    return { ...decision, reason: body.reason, reply: { ...viewVersion(moved.version) } };
  },
);
