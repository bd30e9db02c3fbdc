import type { TrustFault } from './verification.ts';

/** A decided no about one signature or statement: which rule, and what it expects. Never what was there instead. */
export class Distrust extends Error {
  readonly code: TrustFault;

  constructor(code: TrustFault, detail: string) {
    super(detail);
    this.name = code;
    this.code = code;
  }
}

export function distrust(code: TrustFault, detail: string): Distrust {
  return new Distrust(code, detail);
}

const TOLD_MAX = 5;
const TOLD_CHARACTERS_MAX = 60;

/** What a policy names, for a sentence: a policy may name more than anybody would read. */
export function oneOf(names: string[]): string {
  const told = names.slice(0, TOLD_MAX).map((name) => name.slice(0, TOLD_CHARACTERS_MAX));
  const more = names.length > TOLD_MAX ? [`${names.length - TOLD_MAX} more`] : [];
  return `one of ${[...told, ...more].join(' · ')}`;
}

/** Whatever a reader throws becomes this no: what cannot be read is not trusted. */
export function reading<T>(code: TrustFault, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Distrust) throw error;
    throw distrust(code, sentence(error instanceof Error ? error.message : 'expected readable data'));
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
