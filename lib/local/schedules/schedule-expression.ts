import { Cron } from 'croner';

const UNIT_MS: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The first moment after a given one at which a schedule is due, or nothing if there is none any more. */
export type NextFire = (afterMs: number) => number | undefined;

/** https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html */
export function parseScheduleExpression(expression: string, timezone = 'UTC'): NextFire {
  if (!isTimezone(timezone)) throw new Error(`${timezone} is not a known time zone.`);
  const [, kind = '', inner = ''] = /^(rate|cron|at)\((.*)\)$/.exec(expression) ?? [];
  switch (kind) {
    case 'rate':
      return parseRate(inner);
    case 'cron':
      return parseCron(inner, timezone);
    case 'at':
      return parseAt(inner, timezone);
    default:
      throw new Error(`${expression} is neither rate(…) nor cron(…) nor at(…).`);
  }
}

function parseRate(inner: string): NextFire {
  const [, value = '', unit = '', plural = ''] = /^([1-9]\d*) (minute|hour|day)(s?)$/.exec(inner) ?? [];
  const periodMs = Number(value) * (UNIT_MS[unit] ?? NaN);
  if (!Number.isSafeInteger(periodMs) || (value === '1') !== (plural === '')) {
    throw new Error(`rate(${inner}) must be a number and minutes, hours or days (1 minute, 5 minutes).`);
  }
  return (afterMs) => afterMs + periodMs;
}

function parseAt(inner: string, timezone: string): NextFire {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(inner)) {
    throw new Error(`at(${inner}) must look like at(2027-01-31T13:00:00).`);
  }
  const once = readCron(inner, timezone, `at(${inner})`);
  return (afterMs) => once.nextRun(new Date(afterMs))?.getTime();
}

/** AWS has a year where others have seconds, counts weekdays from 1 on Sunday, and allows `5/10`. */
function parseCron(inner: string, timezone: string): NextFire {
  const fields = inner.trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = '', year = ''] = fields;
  if (fields.length !== 6)
    throw new Error(`cron(${inner}) must have six fields: minute hour day month weekday year.`);
  if ((day === '?') === (weekday === '?')) {
    throw new Error(`cron(${inner}) must have ? either as the day of the month or as the weekday.`);
  }
  const pattern = [
    '0',
    withRange(minute, 59),
    withRange(hour, 23),
    withRange(day.replace('?', '*'), 31),
    withRange(month, 12),
    withRange(fromSunday(weekday.replace('?', '*')), 6),
    withRange(year, 2199),
  ].join(' ');
  const cron = readCron(pattern, timezone, `cron(${inner})`);
  return (afterMs) => cron.nextRun(new Date(afterMs))?.getTime();
}

function fromSunday(weekday: string): string {
  return weekday.replace(/^L$/, '7').replace(/(?<![#/\d])[1-7]/g, (digit) => String(Number(digit) - 1));
}

/** `5/10` → `5-59/10` */
function withRange(field: string, max: number): string {
  return field.replace(/(?<![-\d])(\d+)\//g, (_, from: string) => `${from}-${max}/`);
}

function isTimezone(timezone: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: timezone }) !== undefined;
  } catch {
    return false;
  }
}

function readCron(pattern: string, timezone: string, expression: string): Cron {
  try {
    return new Cron(pattern, { timezone, paused: true });
  } catch (error) {
    throw new Error(`${expression} can't be understood: ${(error as Error).message}`, { cause: error });
  }
}
