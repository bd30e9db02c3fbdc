import { artifactKind } from './artifact-kind.ts';
import { sweepPromotions } from '../promotion/drive-workflow.ts';

export const handler = sweepPromotions(artifactKind);
