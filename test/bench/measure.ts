import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Measurements are compared within one run, interleaved, so that a busy machine slows both sides alike; every other
 * round goes backwards, so that what one side leaves behind does not always fall to the same other.
 */
export async function interleave(
  rounds: number,
  sides: Record<string, () => Promise<number>>,
): Promise<Record<string, number[]>> {
  const samples: Record<string, number[]> = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  const forwards = Object.entries(sides);
  const backwards = forwards.toReversed();
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of round % 2 === 0 ? forwards : backwards)
      samples[name]?.push(await measure());
  }
  return samples;
}

export function quantile(samples: number[] | undefined, q: number): number {
  const sorted = [...(samples ?? [])].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export interface Row {
  what: string;
  value: number;
  unit: string;
  /** Where the design sets one: the value may not exceed `must`, and `aim` is what we want. */
  must?: number;
  aim?: number;
  note?: string;
}

/** Has a file measured by a process of its own, whose output nobody reads. */
export async function measureApart(file: string): Promise<Row[]> {
  const child = fork(file, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [rows] = (await Promise.race([once(child, 'message'), ended(child)])) as [Row[]];
  return rows;
}

/** What such a process has to say; by itself it says it to whoever started it. */
export function report(rows: Row[]): void {
  if (process.send) process.send(rows);
  else printTable(rows);
}

async function ended(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`${child.spawnfile} ended with ${code} and no result.`);
}

export function printTable(rows: Row[]): void {
  const shown = rows.map((row) => [
    row.what,
    `${format(row.value)} ${row.unit}`.trim(),
    row.must === undefined ? '' : `≤ ${format(row.must)}`,
    row.aim === undefined ? '' : format(row.aim),
    row.must === undefined ? '' : row.value <= row.must ? 'ok' : 'OVER',
    row.note ?? '',
  ]);
  const lines = [['what', 'measured', 'must', 'aim', '', 'note'], ...shown];
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of lines)
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
