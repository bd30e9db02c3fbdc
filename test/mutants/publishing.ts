import type { Mutant } from './mutant.ts';

export const publishing: Mutant[] = [];
