import type { Decision } from '../platform/data/change.ts';
import { placeOfApp } from './app.ts';
import { saveApp, saveVersion } from './save-release.ts';
import type { Promotion } from '../promotion/promotion.ts';
import { savePromotion } from '../promotion/keep-promotion.ts';
import {
  auditVersionMove,
  type Moved,
  moveVersion,
  type Release,
  type VersionMove,
  VersionMoved,
} from './transition.ts';

export type { Release } from './transition.ts';

/**
 * A move of a version with everything that belongs to it: the app's row and the version's, the version it supersedes,
 * the promotion it is part of, an audit row and an event for each version that moved.
 */
export function decideMove(
  before: Release,
  move: VersionMove,
  promotion: Promotion | undefined,
  now: Date,
  told: { reason?: string } = {},
): { moved: Moved; decision: Decision } {
  const moved = moveVersion(before, move, now);
  const { superseded } = moved;
  return {
    moved,
    decision: {
      ...auditVersionMove(before.version, moved.version),
      ...(superseded && { also: [auditVersionMove(superseded.before, superseded.after)] }),
      place: placeOfApp(before.app),
      writes: [
        ...saveApp(before.app, moved.app),
        ...saveVersion(before.version, moved.version),
        ...(superseded ? saveVersion(superseded.before, superseded.after) : []),
        ...(promotion ? [savePromotion(before.promotion, promotion)] : []),
      ],
      events: [
        VersionMoved(before.version, moved.version, told),
        ...(superseded
          ? [
              VersionMoved(superseded.before, superseded.after, {
                superseded_by: moved.version.version,
              }),
            ]
          : []),
      ],
    },
  };
}
