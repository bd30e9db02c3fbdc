import { promotionSteps } from '../promotion/promotion-step.ts';
import { requestSmoke } from './request-smoke.ts';
import { versionKind } from './version-kind.ts';

export const handler = promotionSteps(versionKind, requestSmoke);
