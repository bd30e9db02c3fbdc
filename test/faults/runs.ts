import type { ReadyFile } from '../e2e/platform-copy.ts';
import { signedFetch } from '../e2e/signed-fetch.ts';
import { until } from '../until.ts';

export interface Run {
  id: string;
  status: string;
  hops: { hop: string; at: string }[];
}

export interface Answer {
  status: number;
  retryAfter: string | null;
  body: unknown;
}

const SECONDS_MAX = 90;

/** Asks once. Nothing, if the answer or the rest of it did not come in time. */
export async function ask(
  ready: ReadyFile,
  method: 'GET' | 'POST',
  path: string,
): Promise<Answer | undefined> {
  try {
    const response = await signedFetch(ready, method, path);
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, body: await response.json() };
  } catch {
    return undefined;
  }
}

/** Asks until there is an answer: a platform that has just come up on a busy machine says 503 for a while. */
async function persist(ready: ReadyFile, method: 'GET' | 'POST', path: string): Promise<Answer> {
  const look = async () => {
    const answer = await ask(ready, method, path);
    return answer?.status !== 503 && answer;
  };
  return until(look, `an answer to ${method} ${path}`, SECONDS_MAX);
}

/** The id of a new run. A request that was not answered is made anew, so there may be more runs than were asked for. */
export async function requestRun(ready: ReadyFile): Promise<string> {
  const { status, body } = await persist(ready, 'POST', '/api/v1/selftests');
  if (status !== 202) throw new Error(`A run was refused: ${JSON.stringify(body)}`);
  return (body as Run).id;
}

/** What is said of a run: itself, or that it is unknown. */
export function readRun(ready: ReadyFile, id: string): Promise<Answer> {
  return persist(ready, 'GET', `/api/v1/selftests/${id}`);
}
