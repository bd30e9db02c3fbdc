// What announcing an artifact and registering it ask alike.

import * as v from 'valibot';
import type { App } from '../catalog/app.ts';
import type { ScopedProject } from '../platform/scope.ts';
import {
  ARTIFACT_KINDS,
  type ArtifactKind,
  Channel,
  CHANNEL_DEFAULT,
  SOURCE_TYPES,
  type SourceType,
  sourceTypeOf,
} from './artifact.ts';
import { refuse } from './problems.ts';

export const ArtifactSource = {
  artifact_kind: v.optional(v.picklist(ARTIFACT_KINDS), 'oci'),
  /** Left out, it follows from the kind. */
  source_type: v.optional(v.picklist(SOURCE_TYPES)),
  channel: v.optional(Channel, CHANNEL_DEFAULT),
};

/** What every publication asks first: a project that works, and a slug that is its own or nobody's yet. */
export function requirePublisher(project: ScopedProject, app: Pick<App, 'owner'> | undefined): void {
  if (project.status === 'archived') throw refuse('project.archived');
  if (app?.owner && app.owner.project_id !== project.id) throw refuse('app.slug_taken');
}

/** Where a kind lies is not a choice; saying it wrong is a mistake somewhere. */
export function requireSourceType(kind: ArtifactKind, said: SourceType | undefined): SourceType {
  const sourceType = sourceTypeOf(kind);
  if (said === undefined || said === sourceType) return sourceType;
  throw refuse('request.invalid', {
    faults: [{ pointer: '/source_type', detail: `Expected ${sourceType} for the kind ${kind}.` }],
  });
}
