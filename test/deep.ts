/** Whether the run has time for everything: `npm run test:deep`. */
export const DEEP = Boolean(process.env['DEEP']);

/** Of a corpus whose rules are tried whole elsewhere: every tenth, or all of it in a deep run. */
export const sampleOf = <T>(corpus: T[]): T[] =>
  DEEP ? corpus : corpus.filter((_, index) => index % 10 === 0);
