import type { Mutant } from './mutant.ts';

export const lib: Mutant[] = [];
