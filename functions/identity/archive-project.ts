import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { archive, ProjectArchived, ProjectParams, ProjectView, viewProject } from './project.ts';
import { findProject, saveArchived } from './project-store.ts';

export const archiveProject = command(
  {
    summary: 'Archive a project that has no running resources',
    action: 'identity.project.archive',
    params: ProjectParams,
    reply: ProjectView,
    refusals: ['project.in_use'],
  },
  async (ctx) => {
    const project = await findProject(projectOf(ctx).id);
    const isNews = project.status === 'active';
    const archived = isNews ? archive(project, ctx.now()) : project;
    return {
      subject: `project:${project.id}`,
      before: viewProject(project),
      after: viewProject(archived),
      writes: isNews ? saveArchived(archived) : [],
      events: isNews ? [ProjectArchived(archived)] : [],
      reply: viewProject(archived),
    };
  },
);
