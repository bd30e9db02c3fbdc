import type { Json } from './asl.ts';

/**
 * Where one line of an execution stands: the root, a branch of a Parallel, an item of a Map. A frame is
 * written to the journal at every step, and is all that is needed to go on after `kill -9`.
 */
export interface Frame {
  /** '' is the root; `/0/2` the third child of its first child. */
  path: string;
  state: string;
  input: Json;
  enteredMs: number;
  enteredEventId: number;
  lastEventId: number;
  /** Retries used in this visit, one count for each retrier. */
  retries: number[];
  /** The end of the pause before a retry. */
  pausedUntilMs?: number;
  attempt?: Attempt;
  /** The item of the Map nearest to this frame. */
  item?: { index: number; value: Json };
  /** Set on the frame that is an item of a Map: the Map's name, and which item. */
  iteration?: { name: string; index: number };
  /** Set when the last state was left. */
  end?: { output: Json };
}

export interface Attempt {
  startedMs: number;
  /** Parameters as evaluated once: a call repeated after a crash is the same call. */
  input: Json;
  timeoutSeconds?: number;
  heartbeatSeconds?: number;
  token?: string;
  /** The call that hands out the token was answered; it is not made again. */
  submitted?: boolean;
}

export function childPath(parent: Frame, index: number): string {
  return `${parent.path}/${index}`;
}
