import type { Mutant } from './mutant.ts';

export const manifests: Mutant[] = [];
