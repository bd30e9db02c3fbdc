import { findPromotableArtifact } from '../artifacts/promotable-artifact.ts';
import type { Promotable } from '../promotion/promotable.ts';
import { findPromotableVersion } from './promotable-version.ts';
import type { Subject } from '../promotion/promotion.ts';

/** What a promotion is about, as it stands, with its last promotion. */
export function findPromotable(subject: Subject): Promise<Promotable> {
  return subject.kind === 'version' ? findPromotableVersion(subject) : findPromotableArtifact(subject);
}
