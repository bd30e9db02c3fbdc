import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ProjectParams, ProjectView, viewProject } from './project.ts';
import { findProject } from './project-store.ts';

export const getProject = query(
  { summary: 'Get a project', params: ProjectParams, reply: ProjectView },
  // Read again rather than answered from what authorization knows: its version is the caller's entity tag.
  async (ctx) => viewProject(await findProject(projectOf(ctx).id)),
);
