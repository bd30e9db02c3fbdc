import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  COLLECT_AFTER_SECONDS,
  findUnneededFiles,
  findUnneededImages,
} from '../../functions/retention/garbage.ts';
import type { StoredFile, StoredImage } from '../../functions/storage/stored.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { DEEP } from '../deep.ts';

const NOW = new Date('2027-03-01T00:00:00.000Z');
const OLD = secondsAfter(NOW, -COLLECT_AFTER_SECONDS);
const RECENT = secondsAfter(NOW, -COLLECT_AFTER_SECONDS + 1);

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const referrersTag = (of: string): string => digest(of).replace(':', '-');

function image(letter: string, stated: Partial<StoredImage> = {}): StoredImage {
  return { digest: digest(letter), tags: [], pushedAt: OLD, sizeBytes: 1, members: [], ...stated };
}

const A = image('a');
const B = image('b');
const SIGNATURE_OF_A = image('c', { subject: A.digest });

describe('an image', () => {
  test.each<[string, StoredImage[], string[], string[]]>([
    ['that is registered stays', [A], ['a'], []],
    ['that nobody registered goes', [A, B], ['a'], ['b']],
    ['that nobody registered stays for a while', [image('a', { pushedAt: RECENT })], [], []],
    ['of a registered index stays', [image('a', { members: [B.digest] }), B], ['a'], []],
    ['of a recent index stays', [image('a', { members: [B.digest], pushedAt: RECENT }), B], [], []],
    [
      'of two indexes stays with one',
      [A, image('b', { members: [A.digest] }), image('c', { members: [A.digest] })],
      ['c'],
      ['b'],
    ],
    ['of an index that goes comes after it', [A, image('b', { members: [A.digest] })], [], ['b', 'a']],
    ['that was signed a moment ago stays', [A, { ...SIGNATURE_OF_A, pushedAt: RECENT }], [], []],
    ['with nothing but a tag goes', [image('a', { tags: ['latest', 'sha256-of-something'] })], [], ['a']],
  ])('%s', (_, images, needed, gone) => {
    const found = findUnneededImages(images, needed.map(digest), NOW);
    expect(found.map((each) => each.digest)).toEqual(gone.map(digest));
  });
});

describe('what is attached to an image', () => {
  test.each<[string, StoredImage[], string[], string[]]>([
    ['stays with it', [A, SIGNATURE_OF_A], ['a'], []],
    ['goes with it', [A, SIGNATURE_OF_A], [], ['a', 'c']],
    ['goes where it was left behind', [SIGNATURE_OF_A], [], ['c']],
    ['stays when it is signed itself', [A, SIGNATURE_OF_A, image('d', { subject: digest('c') })], ['a'], []],
    [
      'stays with it by the tag of its referrers',
      [A, image('d', { tags: [referrersTag('a')], members: [digest('c')] }), image('c')],
      ['a'],
      [],
    ],
    [
      'goes with it by the tag of its referrers, the list first',
      [A, SIGNATURE_OF_A, image('d', { tags: [referrersTag('a')], members: [digest('c')] })],
      [],
      ['d', 'a', 'c'],
    ],
    [
      'stays with an image of a registered index',
      [image('b', { members: [A.digest] }), A, SIGNATURE_OF_A],
      ['b'],
      [],
    ],
    ['to itself goes', [image('a', { subject: digest('a') })], [], ['a']],
  ])('%s', (_, images, needed, gone) => {
    const found = findUnneededImages(images, needed.map(digest), NOW);
    expect(found.map((each) => each.digest)).toEqual(gone.map(digest));
  });
});

const LETTERS = Array.from('0123456789abcdef');
const letters = fc.constantFrom(...LETTERS);
const anyImages = fc.uniqueArray(
  fc
    .record({
      letter: letters,
      members: fc.array(letters, { maxLength: 3 }),
      subject: fc.option(letters, { nil: undefined }),
      tagged: fc.option(letters, { nil: undefined }),
      pushedAt: fc.constantFrom(OLD, OLD, OLD, RECENT),
    })
    .map(({ letter, members, subject, tagged, pushedAt }) =>
      image(letter, {
        members: members.map(digest),
        ...(subject && { subject: digest(subject) }),
        tags: tagged ? [referrersTag(tagged)] : [],
        pushedAt,
      }),
    ),
  { selector: (each) => each.digest, maxLength: LETTERS.length },
);
const anyNeeded = fc.array(letters.map(digest), { maxLength: 4 });
const RUNS = { numRuns: DEEP ? 20_000 : 2_000 };

describe('whatever lies there', () => {
  test('nothing goes that an artifact, something recent or something that stays leads to', () => {
    fc.assert(
      fc.property(anyImages, anyNeeded, (images, needed) => {
        const gone = new Set(findUnneededImages(images, needed, NOW).map((each) => each.digest));
        const staying = images.filter((each) => !gone.has(each.digest));
        const ofSubject = (subject: string): string[] =>
          images
            .filter((each) => each.subject === subject || each.tags.includes(subject.replace(':', '-')))
            .map((each) => each.digest);
        const kept = [
          ...needed,
          ...needed.flatMap(ofSubject),
          ...staying.flatMap((each) => [...each.members, ...ofSubject(each.digest)]),
          ...images.flatMap((each) => (each.pushedAt === RECENT ? [each.digest, each.subject] : [])),
        ];
        expect(kept.filter((each) => each !== undefined && gone.has(each))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('all goes where nothing is registered and nothing is recent', () => {
    fc.assert(
      fc.property(anyImages, (images) => {
        const old = images.map((each) => ({ ...each, pushedAt: OLD }));
        expect(findUnneededImages(old, [], NOW)).toHaveLength(images.length);
      }),
      RUNS,
    );
  });

  test('what is gone leaves no more to be found', () => {
    fc.assert(
      fc.property(anyImages, anyNeeded, (images, needed) => {
        const gone = new Set(findUnneededImages(images, needed, NOW));
        const left = images.filter((each) => !gone.has(each));
        expect(findUnneededImages(left, needed, NOW)).toEqual([]);
      }),
      RUNS,
    );
  });

  test('each image is looked at a few times, however many there are', () => {
    const hex = (index: number): string => `sha256:${index.toString(16).padStart(64, '0')}`;
    let looks = 0;
    const images = Array.from({ length: 10_000 }, (_, index) =>
      Object.defineProperty(
        image('0', { digest: hex(index), subject: hex(index % 2), members: [hex(index + 1)] }),
        'digest',
        { get: () => (looks++, hex(index)) },
      ),
    );
    expect(findUnneededImages(images, [], NOW)).toHaveLength(10_000);
    expect(looks).toBeLessThanOrEqual(5 * images.length);
  });
});

describe('a version of an object', () => {
  const file = (key: string, versionId = '1', storedAt = OLD): StoredFile => ({
    key,
    versionId,
    storedAt,
    sizeBytes: 1,
  });
  const pinned = [{ key: 'model', version_id: '1' }];

  test.each<[string, StoredFile[], StoredFile[]]>([
    ['that an artifact is pinned to stays', [file('model')], []],
    ['that came before or after it goes', [file('model'), file('model', '2')], [file('model', '2')]],
    ['that nobody registered goes', [file('other')], [file('other')]],
    ['that nobody registered stays for a while', [file('other', '1', RECENT)], []],
    [
      'beside a registered file stays',
      [file('model'), file('model.jws.sig'), file('model.intoto.dsse', '7')],
      [],
    ],
    ['beside no file goes', [file('other.jws.sig')], [file('other.jws.sig')]],
    ['beside a recent file stays', [file('other', '1', RECENT), file('other.jws.sig')], []],
    ['with a name like that of one beside goes', [file('model.jws.sig.bak')], [file('model.jws.sig.bak')]],
  ])('%s', (_, files, gone) => {
    expect(findUnneededFiles(files, pinned, NOW)).toEqual(gone);
  });

  test('goes never where an artifact is pinned to it', () => {
    const keys = fc.constantFrom('a', 'b', 'a.jws.sig', 'a.intoto.dsse', 'b.jws.sig');
    const versions = fc.record({ key: keys, version_id: fc.constantFrom('1', '2') });
    fc.assert(
      fc.property(fc.array(versions), fc.array(versions), (stored, used) => {
        const files = stored.map(({ key, version_id }) => file(key, version_id));
        for (const { key, versionId } of findUnneededFiles(files, used, NOW))
          expect(used).not.toContainEqual({ key, version_id: versionId });
      }),
      RUNS,
    );
  });
});
