import type { Mutant } from './mutant.ts';

export const identity: Mutant[] = [];
