// Which apps changed last, in the row of the catalogue's head: who knows the catalogue as it was a few changes ago reads
// only those again.

import { hash } from 'node:crypto';
import * as v from 'valibot';
import type { AppSlug } from '../platform/name.ts';
import { textOf } from '../platform/ids.ts';
import type { App } from './app.ts';

/** With as many the row is one read unit. */
const CHANGES_KEPT = 32;
/** A change of more apps is told without their names. */
const APPS_TOLD_MAX = 4;
/** As many as one request may ask for. */
const APPS_READ_MAX = 100;

const Head = v.object({ revision: v.number() });
const Change = v.object({ at: v.number(), apps: v.array(textOf<AppSlug>()) });

export const revisionOf = (head: Row): number => (head ? v.parse(Head, head).revision : 0);

type Row = Record<string, unknown> | undefined;

/**
 * Counts one more change, and puts its number and its apps in one of the places. Which number it gets is known only to
 * the table, so that no writer has to read the head first.
 */
export function countedChange(apps: Pick<App, 'slug' | 'revision'>[]) {
  const next = 'if_not_exists(revision, :none) + :one';
  const count = { set: `revision = ${next}`, names: {}, values: { ':one': 1, ':none': 0 } };
  const [first] = apps;
  if (!first || apps.length > APPS_TOLD_MAX) return count;
  const place = placeOf(first);
  return {
    set: `${count.set}, #at = ${next}, #apps = :apps`,
    names: { '#at': atName(place), '#apps': appsName(place) },
    values: { ...count.values, ':apps': apps.map(({ slug }) => slug) },
  };
}

/** One app's changes take the places in turn, and those of different apps rarely meet. */
const placeOf = ({ slug, revision }: Pick<App, 'slug' | 'revision'>): number =>
  (parseInt(hash('sha256', slug).slice(0, 8), 16) + revision) % CHANGES_KEPT;

const atName = (place: number): string => `changed_${place}`;
const appsName = (place: number): string => `apps_${place}`;

/** The apps that changed since, if the head tells all of them: every change has a number of its own and none is missing. */
export function changedSince(head: Row, revision: number): AppSlug[] | undefined {
  const behind = revisionOf(head) - revision;
  if (!head || behind < 1 || behind > CHANGES_KEPT) return undefined;
  const changes = Array.from({ length: CHANGES_KEPT }, (_, place) =>
    v.safeParse(Change, { at: head[atName(place)], apps: head[appsName(place)] }),
  ).flatMap(({ success, output }) => (success && output.at > revision ? [output.apps] : []));
  const apps = [...new Set(changes.flat())];
  return changes.length === behind && apps.length <= APPS_READ_MAX ? apps : undefined;
}
