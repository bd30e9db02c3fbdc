import type { SigningErrorKind } from '../signing/signing-error.ts';

/** Why somebody is not signed in, and what to do about it. */
export class SignInError extends Error {
  kind: SigningErrorKind;
  advice: string;

  constructor(kind: SigningErrorKind, message: string, advice: string) {
    super(message);
    this.name = 'SignInError';
    this.kind = kind;
    this.advice = advice;
  }
}
