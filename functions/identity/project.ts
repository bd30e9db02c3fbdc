// A project: where things run and are paid for. Rules only; nothing here knows AWS.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { Description, Id, Name, Slug, Time } from '../platform/name.ts';
import { refuse } from './problems.ts';

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

const ProjectTold = v.object({ org_id: Id, project_id: Id });

const tell = ({ id, ...project }: Project) => ({ project_id: id, ...project });

export const ProjectCreated = event(
  'identity.project.created',
  1,
  v.object({ ...ProjectTold.entries, slug: Slug, name: Name }),
  tell,
);

export const ProjectRenamed = event(
  'identity.project.renamed',
  1,
  v.object({ ...ProjectTold.entries, name: Name, description: Description }),
  tell,
);

export const ProjectArchived = event('identity.project.archived', 1, ProjectTold, tell);
export const ProjectUnarchived = event('identity.project.unarchived', 1, ProjectTold, tell);
