import { listGarbage } from './list-garbage.ts';

/** Every handler of the domain, by the name its routes call it. */
export const retentionEndpoints = { listGarbage };
