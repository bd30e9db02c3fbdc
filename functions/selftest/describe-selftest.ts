import { viewSelftest } from './selftest.ts';
import { findSelftest } from './store.ts';

/** The run as it stands, for whoever begins to follow it. */
export async function describeSelftest(id: string): Promise<Record<string, unknown>> {
  const run = await findSelftest(id);
  return run ? { selftest: viewSelftest(run) } : {};
}
