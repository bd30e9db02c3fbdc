import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from '../measure.ts';
import type { MeasuredHost } from './measured-host.ts';
import type { Requested } from './report-requests.ts';

/** Six long polls and two heartbeats. */
const IDLE_SECONDS = 125;
/** What an agent does once when it starts is no part of being idle. */
const SETTLE_SECONDS = 5;
const HOUR_SECONDS = 3600;
/** A queue lets one wait for 20 s: fewer requests an hour than this nobody makes who waits all the time. */
const POLLS_PER_HOUR = HOUR_SECONDS / 20;
/**
 * Not measured: the window is too short. A token and the credentials of the queue last an hour, and the agent renews them
 * 5 and 10 minutes before they end (agent/platform/node-token.ts, agent/queue/queue-access.ts).
 */
const RENEWED_PER_HOUR = 60 / 55 + 60 / 50;

/** What a host costs that does nothing: requests to the platform and its queue, processor and memory. */
export async function measureIdle({ agent, requests }: MeasuredHost): Promise<Row[]> {
  await wait(SETTLE_SECONDS * 1000);
  const [begunMs, begunCpu] = [Date.now(), cpuSecondsOf(agent.pid)];
  await wait(IDLE_SECONDS * 1000);
  const seconds = (Date.now() - begunMs) / 1000;
  const cpuShare = (cpuSecondsOf(agent.pid) - begunCpu) / seconds;
  const idle = requests.filter(({ atMs }) => atMs >= begunMs);
  const perHour = perHourOf(idle, seconds);
  const sum = Object.values(perHour).reduce((total, each) => total + each, RENEWED_PER_HOUR);
  const told = Object.entries(perHour).map(([kind, count]) => `${Math.round(count)} ${kind}`);
  return [
    {
      what: 'requests of an idle host an hour ÷ 180',
      value: sum / POLLS_PER_HOUR,
      unit: '×',
      must: 1.5,
      aim: 1.4,
      note: `${told.join(', ')}, ${RENEWED_PER_HOUR.toFixed(1)} renewals by reckoning; the rest from ${Math.round(seconds)} s`,
    },
    {
      what: 'agent, idle: of one processor',
      value: cpuShare * 100,
      unit: '%',
      note: `over ${Math.round(seconds)} s`,
    },
    { what: 'agent, idle: memory', value: residentMb(agent.pid), unit: 'MB', note: 'resident' },
  ];
}

/**
 * By kind. What comes regularly is told by the time between the first and the last of it, as the window begins and ends
 * anywhere between two; what came once, by the window.
 */
function perHourOf(requests: readonly Requested[], seconds: number): Record<string, number> {
  const kinds = Object.groupBy(requests, ({ kind }) => kind);
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, each = []]) => {
      const spanSeconds = ((each.at(-1)?.atMs ?? 0) - (each[0]?.atMs ?? 0)) / 1000;
      const perSecond = each.length > 1 ? (each.length - 1) / spanSeconds : 1 / seconds;
      return [kind, perSecond * HOUR_SECONDS];
    }),
  );
}

const TICKS_PER_SECOND = 100;

/** In user and kernel mode (proc_pid_stat(5), utime and stime). */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1000;
}
