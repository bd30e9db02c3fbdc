import { sweepPromotions } from '../promotion/sweep-promotions.ts';
import { versionKind } from './version-kind.ts';

export const handler = sweepPromotions(versionKind);
