import { decidingAgain } from '../functions/platform/data/change.ts';
import { commit, type Write } from '../functions/platform/data/commit.ts';
import { refuse } from '../functions/platform/errors.ts';

/** What a test puts there beside others who do the same: who meets somebody's transaction tries again, as a command does. */
export const commitAgain = (writes: Write[]): Promise<void> =>
  decidingAgain(() => commit(writes), refuse('unavailable'));
