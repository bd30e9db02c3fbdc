import type { Mutant } from './mutant.ts';

export const catalog: Mutant[] = [];
