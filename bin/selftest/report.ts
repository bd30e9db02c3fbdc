import type { PassedHop } from './progress.ts';
import type { SelftestOutcome } from './run-selftest.ts';
import { whereToLook } from './where-to-look.ts';

export type Paint = (colour: 'green' | 'red' | 'grey', text: string) => string;

const ESCAPES = { green: 32, red: 31, grey: 90 };

export function painter(colours: boolean): Paint {
  return (colour, text) => (colours ? `\u001B[${ESCAPES[colour]}m${text}\u001B[0m` : text);
}

export function hopLine({ hop, at, offset_ms }: PassedHop, paint: Paint): string {
  const offset = `${offset_ms} ms`.padStart(9);
  return `  ${paint('green', '✓')} ${hop.padEnd(10)} ${offset}   ${paint('grey', at)}`;
}

export function endLines(
  { passed, id, hops, failure }: SelftestOutcome,
  denials: string[],
  paint: Paint,
): string[] {
  const run = id ? paint('grey', `(run ${id})`) : '';
  const took = Math.max(0, ...hops.map(({ offset_ms }) => offset_ms));
  if (passed || !failure) return ['', `${paint('green', 'PASS')}  ${hops.length} hops in ${took} ms ${run}`];
  const unsaid = denials.filter((denial) => !failure.detail.includes(denial));
  return [
    `  ${paint('red', '✗')} ${failure.hop.padEnd(10)} ${failure.code}: ${failure.detail}`,
    ...unsaid.map((denial) => `    AccessDenied: ${denial}`),
    `    Look at ${whereToLook(failure.hop)}.`,
    '',
    `${paint('red', 'FAIL')}  at ${failure.hop} ${run}`,
  ];
}
