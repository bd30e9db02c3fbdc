import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { judgeTrust } from '../../functions/trust/trust.ts';
import { TRUST_FAULTS, type Verification } from '../../functions/trust/verification.ts';
import { DEEP } from '../deep.ts';
import { type Genuine, genuineOnes, mutations } from './admission-corpus.ts';
import { ask, describeContent, draftEnvelope, kitOf, type Mutation } from './admission-kit.ts';
import { askBuilt, buildingPolicy, draftStatement, goodStatement } from './admission-provenance.ts';

const EDITS = DEEP ? 50_000 : 500;
const DESCRIPTOR = describeContent('an image');

let wrong: (Mutation & { verification: Verification })[];
let right: (Genuine & { verification: Verification })[];

beforeAll(() => {
  const judge = <T extends Genuine>(each: T) => ({
    ...each,
    verification: judgeTrust(each.make(DESCRIPTOR)),
  });
  wrong = mutations().map(judge);
  right = genuineOnes().map(judge);
}, 180_000);

describe('the corpus of admission', () => {
  test('is as large as was promised, each of it another', () => {
    expect(wrong.length).toBeGreaterThanOrEqual(2_000);
    expect(right.length).toBeGreaterThanOrEqual(200);
    for (const all of [wrong, right]) {
      const names = all.map(({ how }) => how);
      expect(names.filter((how, index) => names.indexOf(how) < index)).toEqual([]);
    }
  });

  test('has nothing wrong that is admitted, and each is refused for what is wrong with it', () => {
    const surprises = wrong
      .filter(({ expects, verification: { verdict, fault } }) =>
        verdict === 'refused' && fault ? expects && !expects.includes(fault.code) : true,
      )
      .map(({ how, expects, verification: { verdict, fault } }) => ({ how, expects, verdict, fault }));
    expect(surprises).toEqual([]);
  });

  test('knows every reason to refuse', () => {
    const codes = new Set(wrong.map(({ verification }) => verification.fault?.code));
    expect(TRUST_FAULTS.filter((code) => !codes.has(code))).toEqual([]);
  });

  test('has nothing right that is refused', () => {
    const surprises = right.filter(({ verification }) => verification.verdict !== 'verified');
    expect(surprises).toEqual([]);
  });

  test('is told of without a byte of what was sent', () => {
    for (const { verification } of wrong)
      expect(verification.fault?.detail).toMatch(/^Expected [ -~·’]{10,500}\.$/);
  });
});

/** Some bytes changed, removed or put in, anywhere. */
const edits = fc.array(
  fc.record({ place: fc.nat(), remove: fc.nat(3), insert: fc.uint8Array({ maxLength: 3 }) }),
  { minLength: 1, maxLength: 4 },
);

function edited(bytes: Buffer, changes: { place: number; remove: number; insert: Uint8Array }[]): Buffer {
  return changes.reduce((current, { place, remove, insert }) => {
    const start = place % (current.length + 1);
    return Buffer.concat([current.subarray(0, start), insert, current.subarray(start + remove)]);
  }, bytes);
}

/** What is signed, or checked in another way; who made the envelope is neither. */
function essenceOf(bytes: Buffer): unknown {
  const { header, ...envelope } = JSON.parse(bytes.toString()) as { header: { x5c: unknown } };
  return { ...envelope, x5c: header.x5c };
}

describe('an envelope edited anywhere', () => {
  test.each(['P-256', 'RSA-2048'] as const)(
    'of %s is admitted only where nothing signed was touched',
    (keyType) => {
      const kit = kitOf(keyType);
      const good = draftEnvelope(kit, DESCRIPTOR);
      fc.assert(
        fc.property(edits, (changes) => {
          const bytes = edited(good, changes);
          const { verdict } = judgeTrust(ask(kit, DESCRIPTOR, bytes));
          if (verdict === 'verified') expect(essenceOf(bytes)).toEqual(essenceOf(good));
        }),
        { numRuns: EDITS },
      );
    },
  );

  test('of provenance is admitted only where nothing signed was touched', () => {
    const kit = kitOf('P-256');
    const good = draftStatement(kit, goodStatement(DESCRIPTOR));
    const policy = buildingPolicy(kit);
    fc.assert(
      fc.property(edits, (changes) => {
        const bytes = edited(good, changes);
        const { verdict } = judgeTrust(askBuilt(kit, DESCRIPTOR, [bytes], policy));
        if (verdict === 'verified') expect(JSON.parse(bytes.toString())).toEqual(JSON.parse(good.toString()));
      }),
      { numRuns: EDITS },
    );
  });

  test('with a certificate edited anywhere is refused', () => {
    const kit = kitOf('P-256');
    fc.assert(
      fc.property(fc.nat(2), edits, (which, changes) => {
        const certificate = kit.chain[which] ?? Buffer.alloc(0);
        const other = edited(certificate, changes);
        fc.pre(!other.equals(certificate));
        const chain = kit.chain.with(which, other).map((each) => each.toString('base64'));
        expect(judgeTrust(ask(kit, DESCRIPTOR, draftEnvelope(kit, DESCRIPTOR, { chain }))).verdict).toBe(
          'refused',
        );
      }),
      { numRuns: EDITS },
    );
  });
});
