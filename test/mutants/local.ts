import type { Mutant } from './mutant.ts';

export const local: Mutant[] = [];
