// A project: where things run and are paid for.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { OrgId, ProjectId, textOf } from '../platform/ids.ts';
import { Description, Name, ProjectSlug, Time } from '../platform/name.ts';

export const ProjectParams = v.object({ project_id: ProjectId });

const Status = v.picklist(['active', 'archived']);

export const CreateProject = v.strictObject({
  name: Name,
  slug: ProjectSlug,
  description: v.optional(Description),
});

export const RenameProject = v.pipe(
  v.strictObject({ name: v.optional(Name), description: v.optional(Description) }),
  v.minEntries(1),
);
export type RenameProject = v.InferOutput<typeof RenameProject>;

export const ProjectView = v.object({
  id: ProjectId,
  org_id: OrgId,
  slug: ProjectSlug,
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
  id: textOf<ProjectId>(),
  org_id: textOf<OrgId>(),
  slug: textOf<ProjectSlug>(),
  name: v.string(),
  description: v.optional(v.string(), ''),
  status: Status,
  version: v.number(),
  created_at: v.string(),
  archived_at: v.optional(v.string()),
});
export type Project = v.InferOutput<typeof Project>;

export function planProject(
  id: ProjectId,
  orgId: OrgId,
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
  return { ...project, status: 'archived', archived_at: now.toISOString(), version: project.version + 1 };
}

export function unarchive(project: Project): Project {
  return { ...project, status: 'active', archived_at: undefined, version: project.version + 1 };
}

export function viewProject(project: Project): ProjectView {
  return project;
}

const ProjectTold = v.object({ org_id: OrgId, project_id: ProjectId });

const tell = ({ id, ...project }: Project) => ({ project_id: id, ...project });

export const ProjectCreated = event(
  'identity.project.created',
  1,
  v.object({ ...ProjectTold.entries, slug: ProjectSlug, name: Name }),
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
