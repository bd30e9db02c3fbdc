import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import type { Context } from '../platform/context.ts';
import { type AppInstanceId, type ArtifactId, type EventId, textOf } from '../platform/ids.ts';
import { task } from '../platform/workflow/task.ts';
import { askAllToStop } from './ask-to-stop.ts';
import type { Artifact } from './artifact.ts';
import { findAnyArtifact } from './find-artifact.ts';
import { beginStopping, endStopping } from './stopping-store.ts';
import { listInstances } from './usage-store.ts';

/** Small, because each may be in a project of its own and then takes a transaction of its own. */
const PAGE = 100;
const PAGES_MAX = 50;
/** After this time no further page is begun; the one in progress still ends before the function's time-out. */
const SECONDS_MAX = 20;

const entries = { stop_id: textOf<EventId>(), artifact_id: textOf<ArtifactId>() };

const Step = v.variant('run', [
  v.object({ run: v.literal('stop'), ...entries, after: v.nullable(textOf<AppInstanceId>()) }),
  v.object({ run: v.literal('fail'), ...entries }),
]);
type Step = v.InferOutput<typeof Step>;

interface Outcome {
  decision: 'go_on' | 'over';
  /** The instance after which the next step begins. */
  after: AppInstanceId | null;
}

const OVER: Outcome = { decision: 'over', after: null };

/** One step of the workflow that stops what runs a revoked artifact: as many instances as a step has time for. */
export async function stopStep(ctx: Context, step: Step): Promise<Outcome> {
  const artifact = await findAnyArtifact(step.artifact_id);
  if (artifact?.trust_state !== 'revoked') return OVER;
  if (step.run === 'stop') return stopNext(ctx, artifact, step.stop_id, step.after);
  await endStopping(artifact, step.stop_id, 'failed', ctx.now());
  return OVER;
}

export const handler = task(Step, stopStep);

async function stopNext(
  ctx: Context,
  artifact: Artifact,
  stopId: EventId,
  begin: AppInstanceId | null,
): Promise<Outcome> {
  if (begin === null) await beginStopping(artifact, stopId, ctx.now());
  const endsAt = secondsAfter(ctx.now(), SECONDS_MAX);
  let after = begin;
  for (let page = 0; page < PAGES_MAX && (page === 0 || ctx.now() < endsAt); page += 1) {
    const { instances, next } = await listInstances(artifact.digest, after, PAGE);
    await askAllToStop(ctx, artifact, instances);
    if (next === undefined) {
      await endStopping(artifact, stopId, 'done', ctx.now());
      return OVER;
    }
    after = next;
  }
  return { decision: 'go_on', after };
}
