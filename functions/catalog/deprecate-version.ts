import * as v from 'valibot';
import { decideMove, findReleaseAndPolicy } from './keep-release.ts';
import { VersionParams, VersionView, viewVersion } from './version.ts';
import { command } from '../platform/http/endpoint.ts';
import { MaybeReason } from '../promotion/promotion.ts';
import { GraceSeconds } from '../promotion/status.ts';

export const deprecateVersion = command(
  {
    summary: 'Deprecate a version: it can no longer be launched; running instances continue',
    action: 'catalog.version.deprecate',
    params: VersionParams,
    body: v.strictObject({ reason: MaybeReason, grace_seconds: v.optional(GraceSeconds) }),
    reply: VersionView,
    refusals: ['app.unknown', 'version.unknown', 'version.wrong_status'],
  },
  async (ctx, { params, body: { reason, grace_seconds } }) => {
    const { release, policy } = await findReleaseAndPolicy(params);
    const move = { to: 'deprecated', graceSeconds: grace_seconds ?? policy.grace_seconds } as const;
    const { moved, decision } = decideMove(release, move, undefined, ctx.now(), { reason });
    return { ...decision, reason, reply: { ...viewVersion(moved.version) } };
  },
);
