import { createHash } from 'node:crypto';

/**
 * What AWS does now and then and an engine on one machine never does, each with its probability. All chances come
 * from one seed, so that a run that failed can be repeated.
 */
const CHANCES = {
  /** A DynamoDB request is throttled. */
  throttled: 0.004,
  /** A throttled transaction is cancelled for it instead of refused: no SDK tries that again. */
  cancelled: 0.5,
  /** It is called an exceeded throughput. */
  exceeded: 0.5,
  /** A batch is answered in part. */
  unprocessed: 0.05,
  /** Each part of such a batch is left. */
  left: 0.5,
  /** An index shows a write late. */
  late: 0.2,
  /** Stream records are delivered again. */
  redelivered: 0.05,
} as const;

export type Hardship = keyof typeof CHANCES;

/** Answers whether something happens this time. */
export type Roughness = (what: Hardship) => boolean;

export const SMOOTH: Roughness = () => false;

/** The n-th question gets the same answer in every run with this seed. */
export function roughness(seed: string): Roughness {
  let asked = 0;
  return (what) => {
    asked += 1;
    const digest = createHash('sha256').update(`${seed} ${asked}`).digest();
    return digest.readUInt32BE() / 2 ** 32 < CHANCES[what];
  };
}
