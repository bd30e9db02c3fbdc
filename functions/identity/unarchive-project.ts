import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ProjectParams, ProjectUnarchived, ProjectView, unarchive, viewProject } from './project.ts';
import { findProject, saveUnarchived } from './project-store.ts';

export const unarchiveProject = command(
  {
    summary: 'Unarchive a project',
    action: 'identity.project.unarchive',
    params: ProjectParams,
    reply: ProjectView,
  },
  async (ctx) => {
    const project = await findProject(projectOf(ctx).id);
    const isNews = project.status === 'archived';
    const active = isNews ? unarchive(project) : project;
    return {
      subject: `project:${project.id}`,
      before: viewProject(project),
      after: viewProject(active),
      writes: isNews ? [saveUnarchived(project, active)] : [],
      events: isNews ? [ProjectUnarchived(active)] : [],
      reply: viewProject(active),
    };
  },
);
