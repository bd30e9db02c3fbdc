import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { LowerSelftestId, SelftestView, viewSelftest } from './selftest.ts';
import { findSelftest } from './selftest-store.ts';
import { refuse } from './problems.ts';

export const getSelftest = query(
  {
    summary: 'Get the progress of a self-test',
    params: v.object({ selftest_id: LowerSelftestId }),
    reply: SelftestView,
    denied: (detail) => refuse('selftest.denied', { detail }),
  },
  async (_ctx, { params }) => {
    const run = await findSelftest(params.selftest_id);
    if (!run) throw refuse('selftest.unknown');
    return viewSelftest(run);
  },
);
