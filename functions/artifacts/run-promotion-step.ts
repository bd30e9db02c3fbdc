import { promotionSteps } from '../promotion/promotion-step.ts';
import { artifactKind } from './artifact-kind.ts';

export const handler = promotionSteps(artifactKind);
