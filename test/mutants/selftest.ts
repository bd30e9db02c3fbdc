import type { Mutant } from './mutant.ts';

export const selftest: Mutant[] = [];
