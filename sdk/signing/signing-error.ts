/** What a command ends with: 1, 2, 3, 4 and 5 in this order. */
export type SigningErrorKind = 'failed' | 'usage' | 'auth' | 'not_found' | 'conflict';

/** Something the caller can mend: what went wrong, and what to do about it. */
export class SigningError extends Error {
  kind: SigningErrorKind;
  advice: string;

  constructor(kind: SigningErrorKind, message: string, advice: string) {
    super(message);
    this.name = 'SigningError';
    this.kind = kind;
    this.advice = advice;
  }
}
