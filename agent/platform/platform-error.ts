import * as v from 'valibot';

/** RFC 9457, as the platform answers. */
const Problem = v.object({
  code: v.optional(v.string()),
  title: v.optional(v.string()),
  detail: v.optional(v.string()),
  retryable: v.optional(v.boolean()),
});

/** The platform said no, or could not be asked. */
export class PlatformError extends Error {
  readonly code: string;
  /** Absent if there was no answer. */
  readonly status: number | undefined;
  /** The same request may succeed later. */
  readonly isRetryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    { status, isRetryable, retryAfterMs }: { status?: number; isRetryable: boolean; retryAfterMs?: number },
  ) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
    this.isRetryable = isRetryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Of an answer that is no success. Something between us and the platform may have given it, in words of its own. */
export function problemOf(response: Response, text: string): PlatformError {
  const { status } = response;
  const parsed = v.safeParse(Problem, parseJson(text));
  const { code, title, detail, retryable } = parsed.success ? parsed.output : {};
  const message = detail ?? title ?? `The platform answered with status ${status}.`;
  return new PlatformError(code ?? `http.${status}`, message, {
    status,
    isRetryable: retryable ?? (status === 429 || status === 408 || status >= 500),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
  });
}

const RETRY_AFTER_SECONDS_MAX = 300;

function retryAfterMs(header: string | null): number | undefined {
  if (header === null || !/^\d{1,9}$/.test(header)) return undefined;
  return Math.min(Number(header), RETRY_AFTER_SECONDS_MAX) * 1000;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
