// A project: where things run and are paid for. Rules only; nothing here knows AWS.

import * as v from 'valibot';
import { refuse } from '../platform/errors.ts';
import type { DomainEvent } from '../platform/events.ts';
import { Description, Id, Name, Slug, Time } from '../platform/name.ts';

export const ProjectParams = v.object({ project_id: Id });

const Status = v.picklist(['active', 'archived']);

export const CreateProject = v.strictObject({ name: Name, slug: Slug, description: v.optional(Description) });

export const RenameProject = v.pipe(
  v.strictObject({ name: v.optional(Name), description: v.optional(Description) }),
  v.minEntries(1),
);
export type RenameProject = v.InferOutput<typeof RenameProject>;

export const ProjectView = v.object({
  id: Id,
  org_id: Id,
  slug: Slug,
  name: Name,
  description: Description,
  status: Status,
  version: v.number(),
  created_at: Time,
  archived_at: v.optional(Time),
});
export type ProjectView = v.InferOutput<typeof ProjectView>;

export const ProjectPage = v.object({ items: v.array(ProjectView), next_cursor: v.nullable(v.string()) });

export const Project = v.object({
  id: v.string(),
  org_id: v.string(),
  slug: v.string(),
  name: v.string(),
  description: v.optional(v.string(), ''),
  status: Status,
  /** How many things keep it from being archived. Whatever runs counts itself here as it starts and ends. */
  running_count: v.number(),
  version: v.number(),
  created_at: v.string(),
  archived_at: v.optional(v.string()),
});
export type Project = v.InferOutput<typeof Project>;

export function planProject(
  id: string,
  orgId: string,
  input: v.InferOutput<typeof CreateProject>,
  now: Date,
): Project {
  return {
    id,
    org_id: orgId,
    slug: input.slug,
    name: input.name,
    description: input.description ?? '',
    status: 'active',
    running_count: 0,
    version: 1,
    created_at: now.toISOString(),
  };
}

export function rename(project: Project, { name, description }: RenameProject): Project {
  return {
    ...project,
    name: name ?? project.name,
    description: description ?? project.description,
    version: project.version + 1,
  };
}

/** An archived project stays readable and starts nothing new; one in which something runs stays active. */
export function archive(project: Project, now: Date): Project {
  if (project.running_count > 0) throw refuse('project.in_use');
  return { ...project, status: 'archived', archived_at: now.toISOString(), version: project.version + 1 };
}

export function unarchive(project: Project): Project {
  return { ...project, status: 'active', archived_at: undefined, version: project.version + 1 };
}

export function viewProject(project: Project): ProjectView {
  const { running_count: _, ...view } = project;
  return view;
}

const about = ({ id, org_id }: Project) => ({ org_id, project_id: id });

export const ProjectCreated = (project: Project): DomainEvent => ({
  type: 'identity.project.created',
  version: 1,
  data: { ...about(project), slug: project.slug, name: project.name },
});

export const ProjectRenamed = (project: Project): DomainEvent => ({
  type: 'identity.project.renamed',
  version: 1,
  data: { ...about(project), name: project.name, description: project.description },
});

export const ProjectArchived = (project: Project): DomainEvent => ({
  type: 'identity.project.archived',
  version: 1,
  data: about(project),
});

export const ProjectUnarchived = (project: Project): DomainEvent => ({
  type: 'identity.project.unarchived',
  version: 1,
  data: about(project),
});
