import { v5 as nameBasedUuid } from 'uuid';

/** Somebody who can sign in on this machine. */
export interface Person {
  email: string;
  name: string;
}

/** The `sub` of a person: the same on every machine and after every `--fresh`, so configuration can name it. */
export function subjectOf(email: string): string {
  return nameBasedUuid(`mailto:${email.toLowerCase()}`, nameBasedUuid.URL);
}
