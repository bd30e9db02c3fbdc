import { follow, type Line } from './follow.ts';
import { type PassedHop, Progress, type SelftestFailure } from './progress.ts';
import { reasonOf, RequestFailed, type Requested, SelftestApi, type SocketMessage } from './selftest-api.ts';
import type { Credentials } from './signed-request.ts';

export interface SelftestOptions {
  apiUrl: string;
  credentials: Credentials;
  region: string;
  timeoutSeconds: number;
  onHop: (hop: PassedHop) => void;
}

export interface SelftestOutcome {
  passed: boolean;
  /** Absent when the platform did not accept the request. */
  id?: string;
  hops: PassedHop[];
  failure?: SelftestFailure;
}

const ENDED = 'selftest.ended';
const POLL_MS = 1_000;

/** Asks a platform to test itself and follows the run to its end, over the socket and, when that is silent, by asking. */
export async function runSelftest(options: SelftestOptions): Promise<SelftestOutcome> {
  const api = new SelftestApi(options.apiUrl, options);
  const sentMs = Date.now();
  let requested: Requested;
  try {
    requested = await api.request();
  } catch (error) {
    return { passed: false, hops: [], failure: failureOf('accepted', error) };
  }
  const progress = new Progress(options.onHop, acceptedMs(requested, sentMs));
  progress.see(requested);
  const ids = new Set([requested.id]);
  const line = follow(requested, (message) => hear(progress, ids, message));
  try {
    await followToEnd(api, ids, progress, line, options.timeoutSeconds);
  } finally {
    line.close();
  }
  const failure = progress.failure ?? (await confirm(api, requested.id, progress));
  return {
    passed: failure === undefined,
    id: requested.id,
    hops: progress.hops,
    ...(failure && { failure }),
  };
}

// The run was accepted between request and reply; where the two clocks disagree on that, ours counts.
function acceptedMs({ created_at }: Requested, sentMs: number): number {
  return Math.min(Math.max(Date.parse(created_at), sentMs), Date.now());
}

function hear(progress: Progress, ids: Set<string>, message: SocketMessage): void {
  if (message.type === 'problem') {
    const { code, title, detail } = message.problem;
    progress.failure ??= { hop: 'subscribed', code, detail: detail ?? title };
  } else if (message.type === 'subscribed') {
    progress.subscribed = true;
  } else if (message.event.type === ENDED && ids.has(message.event.data.selftest_id ?? '')) {
    progress.seePush(Date.now());
  }
}

async function followToEnd(
  api: SelftestApi,
  ids: Set<string>,
  progress: Progress,
  line: Line,
  timeoutSeconds: number,
): Promise<void> {
  const deadlineMs = Date.now() + timeoutSeconds * 1000;
  const [id = ''] = ids;
  while (!isOver(progress, line)) {
    if (Date.now() > deadlineMs) {
      progress.failure ??= timedOut(progress, timeoutSeconds);
      return;
    }
    const known = [progress.subscribed, progress.pushedAtMs];
    const isSilent = !(await line.activity(POLL_MS));
    // Other things happen on the platform, too: those are not asked about.
    const isNews = progress.subscribed !== known[0] || progress.pushedAtMs !== known[1];
    if (isSilent || isNews) await attempt(progress, async () => progress.see(await api.read(id)));
    // The run was over before anybody listened, so that the push of its end may have come too early. The line is open
    // now: of another run it will be heard.
    const isUnheard = progress.subscribed && progress.ended && progress.pushedAtMs === undefined;
    if (isUnheard && ids.size === 1)
      await attempt(progress, async () => void ids.add((await api.request()).id));
  }
}

/** All that can still come is here, or what is missing will not come any more. */
function isOver(progress: Progress, line: Line): boolean {
  if (progress.failure) return true;
  if (!progress.ended) return false;
  // The push comes through the relay, and may wait there for what others have said before.
  return line.closed || (progress.subscribed && !progress.missing);
}

// A platform that restarts answers again in a while; a refusal will not change.
async function attempt(progress: Progress, ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    const passing = error instanceof RequestFailed && ['unreachable', 'unavailable'].includes(error.code);
    if (!passing) progress.failure ??= failureOf('confirmed', error);
  }
}

/** The run ended well as far as the client saw; the rest must agree. */
async function confirm(
  api: SelftestApi,
  id: string,
  progress: Progress,
): Promise<SelftestFailure | undefined> {
  if (!progress.subscribed) {
    return {
      hop: 'subscribed',
      code: 'selftest.not_followed',
      detail: 'The WebSocket did not open or did not answer.',
    };
  }
  if (progress.missing) {
    const detail = `The run ended without “${progress.missing}”.`;
    return { hop: progress.missing, code: 'selftest.hop_missing', detail };
  }
  try {
    const { status, failure } = await api.read(id);
    if (status === 'passed') return failure;
    return { hop: 'confirmed', code: 'selftest.contradicted', detail: `The API says the run is ${status}.` };
  } catch (error) {
    return failureOf('confirmed', error);
  }
}

function timedOut({ missing = 'finished', subscribed }: Progress, seconds: number): SelftestFailure {
  const hop = missing === 'pushed' && !subscribed ? 'subscribed' : missing;
  return { hop, code: 'selftest.timeout', detail: `“${hop}” was not reached within ${seconds} s.` };
}

function failureOf(hop: SelftestFailure['hop'], error: unknown): SelftestFailure {
  return { hop, code: error instanceof RequestFailed ? error.code : 'internal', detail: reasonOf(error) };
}
