import { roughness, SMOOTH, type Roughness } from '../lib/local/wire/roughness.ts';

const asked = process.env['ROUGH'] ?? '1';

/** Of what AWS does now and then: `ROUGH=<seed> npm test` chooses another, `ROUGH=off` has nothing of it happen. */
export const SEED = asked === 'off' ? undefined : asked;

/** Each file meets the same in every run with this seed. */
export const testRoughness = (): Roughness => (SEED === undefined ? SMOOTH : roughness(SEED));

/** Counts how often somebody has to ask again by chance, where no SDK does so by itself. */
export function countRepeats(happens: Roughness): { happens: Roughness; repeats: () => number } {
  let repeats = 0;
  return {
    happens: (what) => {
      const isSo = happens(what);
      if (isSo && (what === 'unprocessed' || what === 'cancelled')) repeats += 1;
      return isSo;
    },
    repeats: () => repeats,
  };
}
