// What single values of a manifest may look like. Plain patterns, so that the exported JSON Schema can state them. A
// message says what is expected; after a line break, what to do about it.

import * as v from 'valibot';

/** A field with what it means, for the exported schema and the documentation made of it. */
export const said = <S extends v.GenericSchema>(schema: S, meaning: string) =>
  v.pipe(schema, v.description(meaning));

/** Other control characters are refused wherever they stand, before any field is read. */
export const line = (max: number) =>
  v.pipe(v.string(), v.regex(/^[^\n\t]*$/, 'One line of text.'), v.maxLength(max));

export const text = (max: number) => v.pipe(v.string(), v.maxLength(max));

/** A list that may be left out. Made anew each time: two manifests must not share one. */
export const maybeListOf = <S extends v.GenericSchema>(item: S, max: number, meaning: string) =>
  v.optional(v.pipe(v.array(item), v.maxLength(max), v.description(meaning)), () => []);

/** A list of at least one. */
export const someOf = <S extends v.GenericSchema>(item: S, max: number, meaning: string) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(max), v.description(meaning));

export const wholeNumber = (min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const PortNumber = wholeNumber(1, 65_535);

/** What things inside a manifest are called: components, artifacts, variants, add-ons, secrets. */
export const ItemName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/, 'Lower-case letters and digits, separated by single - or _.'),
  v.maxLength(40),
);

/** Keys, phases, units and classes: words a program compares. */
export const Word = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_]*$/, 'Lower-case letters, digits and _, beginning with a letter.'),
  v.maxLength(64),
);

/** A parameter is named by one of these, and so is a member of an object it may hold. */
export const PropertyName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'Letters, digits and _ . -, beginning with a letter or _.'),
  v.maxLength(64),
);

export const EnvName = v.pipe(
  v.string(),
  v.regex(/^[A-Z_][A-Z0-9_]*$/, 'Upper-case letters, digits and _, not beginning with a digit.'),
  v.maxLength(100),
);

const REPOSITORY = /[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*/.source;

export const RepositoryName = v.pipe(
  v.string(),
  v.regex(
    new RegExp(`^${REPOSITORY}(?::\\d{1,5}(?=/))?(?:/${REPOSITORY}){0,10}$`),
    'A repository such as apps/my-app/runtime, without tag or digest.\nThe digest has a field of its own.',
  ),
  v.maxLength(255),
);

/** An image by what it is, not by what somebody calls it today. */
export const ImageRef = v.pipe(
  v.string(),
  v.regex(
    new RegExp(`^${REPOSITORY}(?::\\d{1,5}(?=/))?(?:/${REPOSITORY}){0,10}@sha256:[0-9a-f]{64}$`),
    'An image by digest: repository@sha256: and 64 hexadecimal digits, without a tag.\nTags can move: push the image and use the digest the registry answered.',
  ),
  v.maxLength(330),
);

/** A path of an address: absolute, no way up, no second host. */
export const UrlPath = v.pipe(
  v.string(),
  v.regex(
    /^(?!.*\/\.\.?(?:\/|$))\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*\/?)?$/,
    'An absolute path such as /lab, without .. and without // in it.',
  ),
  v.maxLength(200),
);

export const HttpsUrl = v.pipe(
  v.string(),
  v.regex(/^https:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?(?:\/[!-~]*)?$/, 'An https address.'),
  v.maxLength(300),
);

/** One argument a word, as exec takes them; no shell reads them. */
export const Command = v.pipe(
  v.array(
    v.pipe(
      v.string(),
      v.regex(
        /^[^\n\t]+$/,
        'One argument without line breaks.\nPut a longer script into the image and call it here.',
      ),
      v.maxLength(2000),
    ),
  ),
  v.minLength(1),
  v.maxLength(100),
);
