import type { Refusal } from '../platform/errors.ts';
import * as v from 'valibot';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { requireNone } from '../platform/data/counters.ts';
import { projectCounterKey, projectKey } from '../platform/data/keys.ts';
import type { OrgId, ProjectId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import { readItem } from '../platform/data/table.ts';
import { orgProjectsPartition, projectSlugKey } from './keys.ts';
import { Project } from './project.ts';
import { type PageAsked, readGathered } from '../platform/data/rows.ts';
import { refuse } from './problems.ts';

export async function findProject(id: ProjectId): Promise<Project> {
  const item = await readItem(projectKey(id));
  if (!item) throw refuse('project.unknown');
  return v.parse(Project, item);
}

export async function listProjectsOf(orgId: OrgId, page: PageAsked): Promise<PageOf<Project>> {
  const { items, next_cursor } = await readGathered(orgProjectsPartition(orgId), projectKey, page);
  return { items: items.map((item) => v.parse(Project, item)), next_cursor };
}

export function insertProject(project: Project): Write[] {
  return [
    // Registry paths name a project by its slug alone, so no two organisations may share one.
    putNew({ ...projectSlugKey(project.slug), project_id: project.id }, refuse('project.slug_taken')),
    putNew({
      ...projectKey(project.id),
      ...project,
      gsi1pk: orgProjectsPartition(project.org_id),
      gsi1sk: project.id,
    }),
  ];
}

export function saveName(before: Project, after: Project, stale: Refusal | undefined): Write {
  return update(
    projectKey(before.id),
    {
      update: 'SET #name = :name, description = :description, version = :after',
      condition: 'version = :before',
      names: { '#name': 'name' },
      values: {
        ':name': after.name,
        ':description': after.description,
        ':after': after.version,
        ':before': before.version,
      },
    },
    stale,
  );
}

/** Not while an instance is counted there; what else happened meanwhile does not matter. */
export function saveArchived(after: Project): Write[] {
  return [
    update(projectKey(after.id), {
      update: 'SET #status = :archived, archived_at = :at, version = version + :one',
      condition: 'attribute_exists(pk)',
      names: { '#status': 'status' },
      values: { ':archived': after.status, ':at': after.archived_at, ':one': 1 },
    }),
    requireNone(projectCounterKey(after.id), refuse('project.in_use')),
  ];
}

export function saveUnarchived(before: Project, after: Project): Write {
  return update(projectKey(before.id), {
    update: 'SET #status = :active, version = :after REMOVE archived_at',
    condition: 'version = :before',
    names: { '#status': 'status' },
    values: { ':active': after.status, ':after': after.version, ':before': before.version },
  });
}
