import type { Mutant } from './mutant.ts';

export const sdk: Mutant[] = [];
