import type { Mutant } from './mutant.ts';

export const selftest: Mutant[] = [
  {
    what: 'a run that failed can be made to pass',
    file: 'functions/selftest/selftest.ts',
    from: "passed: ['running']",
    to: "passed: ['running', 'failed']",
    noticedBy: ['test/selftest/selftest.test.ts'],
  },
  {
    what: 'an ended run gets another verdict',
    file: 'functions/selftest/selftest-store.ts',
    from: 'condition: `#status IN (${statuses(verdict.status)})`',
    to: 'condition: `#status IN (${statuses(verdict.status)}) OR attribute_exists(pk)`',
    noticedBy: ['test/selftest/request-selftest.test.ts'],
  },
  {
    what: 'a run is rescued by every sweep',
    file: 'functions/selftest/selftest-store.ts',
    from: 'AND attribute_not_exists(rescued_at)',
    to: '',
    noticedBy: ['test/selftest/request-selftest.test.ts'],
  },
  {
    what: 'a hop that is repeated moves its time',
    file: 'functions/selftest/selftest-store.ts',
    from: 'attribute_exists(pk) AND attribute_not_exists(hops.#hop)',
    to: 'attribute_exists(pk)',
    noticedBy: ['test/selftest/request-selftest.test.ts'],
  },
  {
    what: 'a run passes though a hop is missing',
    file: 'functions/selftest/selftest.ts',
    from: "if (!missing) return { status: 'passed' };",
    to: "if (!error) return { status: 'passed' };",
    noticedBy: ['test/selftest/selftest.test.ts'],
  },
  {
    what: 'the ticket of a run is kept readable in the receipt',
    file: 'functions/selftest/request-selftest.ts',
    from: `socket_url: environment('SOCKET_URL') },
      secrets: {`,
    to: `socket_url: environment('SOCKET_URL'), ticket: ticket.secret },
      secrets: {`,
    noticedBy: ['test/selftest/request-selftest.test.ts'],
  },
  {
    what: 'a run is judged by what an index knew of it',
    file: 'functions/selftest/sweep-selftests.ts',
    from: `async function mend({ id }: Selftest): Promise<void> {
  // The index may lag behind.
  const run = await findSelftest(id);
`,
    to: `async function mend(run: Selftest): Promise<void> {
  await findSelftest(run.id);
`,
    noticedBy: ['test/selftest/sweep-selftests.test.ts'],
  },
];
