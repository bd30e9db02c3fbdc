import * as v from 'valibot';
import { SignInError } from './sign-in-error.ts';

const ANSWER_SECONDS_MAX = 10;
const ANSWER_BYTES_MAX = 64 * 1024;
/** RFC 6749 §5.1 only recommends that an issuer tells it. */
const LIFETIME_SECONDS = 300;

const Address = v.pipe(v.string(), v.url(), v.check(isPrivate, 'must be an https address'));

/** As much as a sign-in needs of OpenID Connect Discovery §3, RFC 8414, RFC 8628 and RFC 9207. */
const Provider = v.object({
  issuer: v.string(),
  authorization_endpoint: Address,
  token_endpoint: Address,
  device_authorization_endpoint: v.optional(Address),
  revocation_endpoint: v.optional(Address),
  scopes_supported: v.optional(v.array(v.string()), []),
  authorization_response_iss_parameter_supported: v.optional(v.boolean(), false),
});
export type Provider = v.InferOutput<typeof Provider>;

const Secret = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,16384}$/));

const Tokens = v.object({
  access_token: Secret,
  token_type: v.pipe(v.string(), v.toLowerCase(), v.literal('bearer')),
  expires_in: v.optional(v.pipe(v.number(), v.minValue(1)), LIFETIME_SECONDS),
  refresh_token: v.optional(Secret),
});
export type Tokens = v.InferOutput<typeof Tokens>;

/** RFC 6749 §5.2; whatever else is in it could draw on somebody's terminal. */
const Told = v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,300}$/));
const Failure = v.object({ error: Told, error_description: v.fallback(v.optional(Told), undefined) });
export type Failure = v.InferOutput<typeof Failure>;

/** Whether nobody on the way can read what is sent there. */
function isPrivate(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname))
  );
}

export async function discover(issuer: string): Promise<Provider> {
  if (!URL.canParse(issuer) || !isPrivate(issuer)) {
    throw new SignInError(
      'usage',
      `“${issuer}” is not the address of an issuer.`,
      'Give an https address; only the platform on this machine may be spoken to over http.',
    );
  }
  const { status, body } = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const provider = v.safeParse(Provider, body);
  if (status !== 200 || !provider.success) throw notAnIssuer(issuer, `status ${status}`);
  // OpenID Connect Discovery §4.3: another name could be another issuer's answer, passed on.
  if (provider.output.issuer !== issuer) throw notAnIssuer(issuer, 'it goes by another name');
  return provider.output;
}

/** What to ask for: who it is, and to stay signed in where that must be asked for. */
export function scopeOf({ scopes_supported }: Provider): string {
  return ['openid', 'email', ...scopes_supported.filter((scope) => scope === 'offline_access')].join(' ');
}

/** Tokens, or why the issuer gives none. */
export async function askForTokens(
  { issuer, token_endpoint }: Provider,
  form: Record<string, string>,
): Promise<Tokens | Failure> {
  const { status, body } = await ask(token_endpoint, form);
  const tokens = v.safeParse(Tokens, body);
  if (status === 200 && tokens.success) return tokens.output;
  return readFailure(issuer, status, body);
}

export function readFailure(issuer: string, status: number, body: unknown): Failure {
  const failure = v.safeParse(Failure, body);
  if (failure.success) return failure.output;
  throw notAnIssuer(issuer, `status ${status}`);
}

/** The issuer's own words where it has some. */
export const wordsOf = ({ error, error_description }: Failure): string => error_description ?? error;

/** Of answers that have nothing to say, the body is undefined. */
export async function ask(
  address: string,
  form?: Record<string, string>,
): Promise<{ status: number; body: unknown }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, {
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      headers: { accept: 'application/json' },
      // A redirect would take what is sent to where nobody has looked.
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000),
    });
    text = await readBounded(response);
  } catch (error) {
    throw new SignInError(
      'failed',
      `${new URL(address).origin} does not answer as it should (${reasonOf(error)}).`,
      'Check the issuer’s address and the network, and try again.',
    );
  }
  const isJson = /^application\/json\s*(;|$)/i.test(response.headers.get('content-type') ?? '');
  const body = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  return { status: response.status, body: isJson && body.success ? body.output : undefined };
}

async function readBounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`over ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function notAnIssuer(issuer: string, why: string): SignInError {
  return new SignInError(
    'failed',
    `${issuer} does not answer as an issuer does (${why}).`,
    'Check its address.',
  );
}

/** fetch hides what happened in the cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  return cause instanceof Error ? cause.message : String(cause);
}
