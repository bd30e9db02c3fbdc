import { HOPS, type Hop, type SelftestView } from '../../functions/selftest/selftest.ts';

/** The platform's hops, and the one only the client can see: the verdict arrived over the socket. */
export const STEPS = [...HOPS, 'pushed'] as const;

export type Step = Hop | 'pushed';

export interface PassedHop {
  hop: Step;
  at: string;
  offset_ms: number;
}

/** `subscribed` and `confirmed` are not hops of the run: following it and reading it are tested on the way. */
export interface SelftestFailure {
  hop: Step | 'subscribed' | 'confirmed';
  code: string;
  detail: string;
}

/** Puts together what arrives by socket and by polling, in any order and repeatedly, into one account. */
export class Progress {
  readonly hops: PassedHop[] = [];
  status: SelftestView['status'] = 'requested';
  failure: SelftestFailure | undefined;
  subscribed = false;
  /** When the end was heard of over the socket. */
  pushedAtMs: number | undefined;
  readonly #onHop: (hop: PassedHop) => void;
  readonly #acceptedAtMs: number;

  constructor(onHop: (hop: PassedHop) => void, acceptedAtMs: number) {
    this.#onHop = onHop;
    this.#acceptedAtMs = acceptedAtMs;
  }

  get ended(): boolean {
    return this.status === 'passed' || this.status === 'failed';
  }

  get missing(): Step | undefined {
    return STEPS.find((step) => !this.#has(step));
  }

  see(view: SelftestView): void {
    for (const hop of view.hops) this.#pass(hop);
    if (!this.ended) this.status = view.status;
    this.failure ??= view.failure;
    this.#passPushed();
  }

  /** The socket told of the end; the hops before it are read. */
  seePush(nowMs: number): void {
    this.pushedAtMs ??= nowMs;
    this.#passPushed();
  }

  /** It is the last hop, whenever it was heard of. */
  #passPushed(): void {
    if (!this.ended || this.pushedAtMs === undefined) return;
    const offset_ms = this.pushedAtMs - this.#acceptedAtMs;
    this.#pass({ hop: 'pushed', at: new Date(this.pushedAtMs).toISOString(), offset_ms });
  }

  #has(step: Step): boolean {
    return this.hops.some(({ hop }) => hop === step);
  }

  #pass(passed: PassedHop): void {
    if (this.#has(passed.hop)) return;
    this.hops.push(passed);
    this.#onHop(passed);
  }
}
