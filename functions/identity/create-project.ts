import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { OrgParams } from './org.ts';
import { CreateProject, planProject, ProjectCreated, ProjectView, viewProject } from './project.ts';
import { insertProject } from './project-store.ts';

export const createProject = command(
  {
    summary: 'Create a project',
    action: 'identity.project.create',
    params: OrgParams,
    body: CreateProject,
    reply: ProjectView,
    status: 201,
    refusals: ['project.slug_taken'],
  },
  (ctx, { body }) => {
    const project = planProject(ctx.newId(), orgOf(ctx).id, body, ctx.now());
    return {
      subject: `project:${project.id}`,
      // A project's own records begin with its creation.
      place: { org_id: project.org_id, project_id: project.id },
      after: viewProject(project),
      location: `/api/v1/projects/${project.id}`,
      writes: insertProject(project),
      events: [ProjectCreated(project)],
      reply: viewProject(project),
    };
  },
);
