import { on, reactions } from '../platform/workflow/reactions.ts';
import { SelftestRequested } from './selftest.ts';
import { startSelftest } from './start-selftest.ts';

export const handler = reactions(on(SelftestRequested, startSelftest));
