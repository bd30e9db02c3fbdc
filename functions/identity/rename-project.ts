import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ProjectParams, ProjectRenamed, ProjectView, rename, RenameProject, viewProject } from './project.ts';
import { findProject, saveName } from './project-store.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const renameProject = command(
  {
    summary: 'Change the name or the description of a project',
    action: 'identity.project.rename',
    params: ProjectParams,
    body: RenameProject,
    reply: ProjectView,
    refusals: ['precondition.failed'],
  },
  async (ctx, { body }) => {
    const project = await findProject(projectOf(ctx).id);
    const stale = requireVersion(project, ctx.ifMatch);
    const renamed = rename(project, body);
    return {
      subject: `project:${project.id}`,
      before: viewProject(project),
      after: viewProject(renamed),
      writes: [saveName(project, renamed, stale)],
      events: [ProjectRenamed(renamed)],
      reply: viewProject(renamed),
    };
  },
);
