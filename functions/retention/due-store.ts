import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { queryAll } from '../platform/data/rows.ts';
import { updateItem } from '../platform/data/table.ts';
import { type ArtifactId, textOf } from '../platform/ids.ts';
import { LIFECYCLE_STATES, TRUST_STATES } from '../artifacts/artifact.ts';
import { DUE_ARTIFACTS, dueKey } from '../artifacts/keys.ts';
import type { Due } from '../artifacts/artifact-due.ts';

const DueRow = v.object({
  artifact_id: textOf<ArtifactId>(),
  gsi1sk: v.string(),
  lifecycle_state: v.picklist(LIFECYCLE_STATES),
  trust_state: v.picklist(TRUST_STATES),
  trust_revision: v.optional(v.number()),
  tried_at: v.optional(v.string()),
});

const DUE_MAX = 20_000;

/** The artifacts that are due first. Later ones follow when these are done. */
export async function listDue(): Promise<Due[]> {
  const { items } = await queryAll({
    index: 'gsi1',
    condition: 'gsi1pk = :due',
    values: { ':due': DUE_ARTIFACTS },
    max: DUE_MAX,
  });
  return items.map((item) => {
    const { gsi1sk: due_at, ...due } = v.parse(DueRow, item);
    return { ...due, due_at };
  });
}

/** It could not be looked at; others come before it the next time. */
export async function noteTried(id: ArtifactId, now: Date): Promise<void> {
  await updateItem(dueKey(id), {
    update: 'SET tried_at = :now',
    condition: 'attribute_exists(pk)',
    values: { ':now': now.toISOString() },
  });
}

const POSTPONED_SECONDS = 24 * 3600;

/** It is looked at again another day, unless it changed meanwhile and is not due any more. */
export async function postponeDue(id: ArtifactId, now: Date): Promise<void> {
  await updateItem(dueKey(id), {
    update: 'SET gsi1sk = :later',
    condition: 'gsi1sk <= :now',
    values: { ':now': now.toISOString(), ':later': secondsAfter(now, POSTPONED_SECONDS).toISOString() },
  });
}
