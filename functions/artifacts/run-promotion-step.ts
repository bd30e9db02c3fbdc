import { promotionSteps } from '../promotion/run-step.ts';
import { artifactKind } from './artifact-kind.ts';

export const handler = promotionSteps(artifactKind);
