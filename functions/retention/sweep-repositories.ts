import { type Sweep, sweeping } from '../platform/workflow/sweep.ts';
import { listAllRepositories, noteSwept, type Repository } from '../storage/keep-repository.ts';
import { collectGarbage } from './collect-garbage.ts';

/** Removes unneeded content from every repository, the one that was swept longest ago first. */
export const repositorySweep: Sweep<Repository> = {
  noun: 'repository',
  find: async () =>
    (await listAllRepositories()).toSorted((a, b) => ((a.swept_at ?? '') < (b.swept_at ?? '') ? -1 : 1)),
  mend: async (ctx, repository) => {
    await noteSwept(repository.name, ctx.now());
    await collectGarbage(ctx, repository);
  },
  label: ({ name }) => ({ repository: name }),
  // One repository may take minutes more; the function has them.
  secondsMax: 8 * 60,
};

export const handler = sweeping(repositorySweep);
