import * as v from 'valibot';
import { SelftestView } from '../../functions/selftest/selftest.ts';
import { signedRequest, type Signer } from './signed-request.ts';

/** What went wrong, in the platform's own words where it had some. */
export class RequestFailed extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'RequestFailed';
    this.code = code;
  }
}

const Requested = v.object({ ...SelftestView.entries, ticket: v.string(), socket_url: v.string() });

export type Requested = v.InferOutput<typeof Requested>;

/** What the socket sends: the answer to subscribing, then every event of the platform. */
export const SocketMessage = v.variant('type', [
  v.object({ type: v.literal('subscribed') }),
  v.object({
    type: v.literal('event'),
    event: v.object({ type: v.string(), data: v.object({ selftest_id: v.optional(v.string()) }) }),
  }),
  v.object({
    type: v.literal('problem'),
    problem: v.object({ code: v.string(), title: v.string(), detail: v.optional(v.string()) }),
  }),
]);

export type SocketMessage = v.InferOutput<typeof SocketMessage>;

export class SelftestApi {
  readonly #base: string;
  readonly #signer: Signer;

  constructor(apiUrl: string, signer: Signer) {
    this.#base = apiUrl.replace(/\/$/, '');
    this.#signer = signer;
  }

  request(): Promise<Requested> {
    return this.#send('POST', '/api/v1/selftests', Requested);
  }

  read(id: string): Promise<SelftestView> {
    return this.#send('GET', `/api/v1/selftests/${id}`, SelftestView);
  }

  async #send<T>(method: 'GET' | 'POST', path: string, schema: v.GenericSchema<unknown, T>): Promise<T> {
    const url = new URL(this.#base + path);
    const response = await signedRequest(this.#signer, method, url).catch((error: unknown) => {
      throw new RequestFailed('unreachable', `${url.origin} does not answer: ${reasonOf(error)}`);
    });
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, text);
    return v.parse(v.pipe(v.string(), v.parseJson(), schema), text);
  }
}

const ProblemBody = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ code: v.string(), title: v.string(), detail: v.optional(v.string()) }),
);

function refusal(status: number, text: string): RequestFailed {
  const problem = v.safeParse(ProblemBody, text);
  if (problem.success) {
    return new RequestFailed(problem.output.code, problem.output.detail ?? problem.output.title);
  }
  const hint = status === 403 ? ' These credentials need execute-api:Invoke on the route.' : '';
  return new RequestFailed(`http.${status}`, `${text.slice(0, 500)}${hint}`);
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
