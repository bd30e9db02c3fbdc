import type { Mutant } from './mutant.ts';

export const platform: Mutant[] = [];
