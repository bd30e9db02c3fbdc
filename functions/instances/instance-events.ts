// The events about instances. The instances domain does not exist yet; other domains emit and react to these events.

import * as v from 'valibot';
import { type AppInstanceId, ArtifactId, branded } from '../platform/ids.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { event } from '../platform/events.ts';
import { AppSlug } from '../platform/name.ts';

const InstanceTold = v.object({
  // Bounded, as a canary keeps the ids of all the instances it counts.
  app_instance_id: branded<AppInstanceId>(v.pipe(v.string(), v.maxLength(64))),
  app_slug: AppSlug,
  app_version: VersionNumber,
});

export const InstanceRunning = event('apps.instance.running', 1, InstanceTold);
export const InstanceFailed = event('apps.instance.failed', 1, InstanceTold);

/** Told in the instance's own project, which need not be that of whoever asks. */
export const StopRequested = event(
  'apps.instance.stop_requested',
  1,
  v.object({
    ...InstanceTold.entries,
    /** A code: `artifact.revoked`. */
    reason: v.string(),
    artifact_id: ArtifactId,
    /** In words, by whoever revoked the artifact. */
    detail: v.optional(v.string()),
  }),
);
