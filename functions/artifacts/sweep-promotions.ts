import { sweepPromotions } from '../promotion/sweep-promotions.ts';
import { artifactKind } from './artifact-kind.ts';

export const handler = sweepPromotions(artifactKind);
