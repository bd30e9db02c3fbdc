import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { refuse } from '../platform/errors.ts';
import { SelftestId, SelftestView, viewSelftest } from './selftest.ts';
import { findSelftest } from './store.ts';

export const getSelftest = query(
  {
    summary: 'How far a self-test has come',
    params: v.object({ selftest_id: SelftestId }),
    reply: SelftestView,
    denied: 'selftest.denied',
  },
  async (_ctx, { params }) => {
    const run = await findSelftest(params.selftest_id);
    if (!run) throw refuse('selftest.unknown');
    return viewSelftest(run);
  },
);
