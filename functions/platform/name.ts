// What people may call things. Plain patterns, so that the API's document can state them.

import * as v from 'valibot';
import { type Branded, branded } from './ids.ts';

/** Part of registry paths and addresses, so it is chosen once and never changes. */
export const Slug = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'Lower-case letters and digits, separated by single hyphens'),
  v.minLength(2),
  v.maxLength(40),
);

export type OrgSlug = Branded<'OrgSlug'>;
export type ProjectSlug = Branded<'ProjectSlug'>;
export type AppSlug = Branded<'AppSlug'>;
/** Of a service account, in its project. */
export type AccountSlug = Branded<'AccountSlug'>;

export const OrgSlug = branded<OrgSlug>(Slug);
export const ProjectSlug = branded<ProjectSlug>(Slug);
export const AppSlug = branded<AppSlug>(Slug);
export const AccountSlug = branded<AccountSlug>(Slug);

/** One line a person can read: no control characters, which terminals would obey, and no blank at either end. */
export const Name = v.pipe(
  v.string(),
  v.regex(/^(?! )[ -~\u00a1-\uffff]*[!-~\u00a1-\uffff]$/, 'One line of text'),
  v.maxLength(100),
);

export const Description = v.pipe(v.string(), v.regex(/^[\n -~\u00a1-\uffff]*$/, 'Text'), v.maxLength(500));

/**
 * ASCII alone: an address with a letter that only looks like another is a different one, and some such letters become
 * the other when they are written small. Two addresses are the same if they differ in nothing but capitals.
 */
export const Email = v.pipe(
  v.string(),
  v.email(),
  v.regex(/^[!-~]*$/, 'An e-mail address in ASCII'),
  v.maxLength(254),
);

/** 32 random bytes, told once. */
export const OneTimeToken = v.pipe(v.string(), v.regex(/^[\w-]{43}$/));

export const Time = v.pipe(v.string(), v.isoTimestamp());

export const Digest = v.pipe(
  v.string(),
  v.regex(
    /^sha256:[0-9a-f]{64}$/,
    'A digest: sha256: and 64 hexadecimal digits.\nPush the artifact and write the digest the registry answered; tags can move.',
  ),
);
