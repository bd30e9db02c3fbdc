import type { Mutant } from './mutant.ts';

export const artifacts: Mutant[] = [];
