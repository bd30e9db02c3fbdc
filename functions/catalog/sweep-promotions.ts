import { versionKind } from './version-kind.ts';
import { sweepPromotions } from '../promotion/drive-workflow.ts';

export const handler = sweepPromotions(versionKind);
