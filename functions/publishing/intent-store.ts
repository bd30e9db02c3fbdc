import * as v from 'valibot';
import { intentKey, OPEN_INTENTS, repositoryKey } from '../artifacts/keys.ts';
import { putNew, requireThat, update, type Write } from '../platform/data/commit.ts';
import { projectKey } from '../platform/data/keys.ts';
import { readItem } from '../platform/data/table.ts';
import { Intent, pushableUntil } from './intent.ts';
import { refuse } from './problems.ts';

export async function findIntent(projectId: string, id: string): Promise<Intent> {
  const item = await readItem(intentKey(projectId, id.toLowerCase()));
  if (!item) throw refuse('intent.unknown');
  return v.parse(Intent, item);
}

/** The intent, and the repository it opens, which from then on is the project's. */
export function insertIntent(intent: Intent): Write[] {
  const { project_id, id, open_until } = intent;
  return [
    requireThat(
      projectKey(project_id),
      { condition: '#status = :active', names: { '#status': 'status' }, values: { ':active': 'active' } },
      refuse('project.archived'),
    ),
    putNew({ ...intentKey(project_id, id), ...intent, gsi1pk: OPEN_INTENTS, gsi1sk: open_until }),
    saveRepository(intent),
  ];
}

/** Nothing is published where the platform is just removing what nobody registered. */
function saveRepository(intent: Intent): Write {
  const { repository, org_id, project_id, app_slug, created_at } = intent;
  return update(
    repositoryKey(repository),
    {
      update:
        'SET #name = :name, org_id = :org, project_id = :project, app_slug = :app, open_until = :until, created_at = if_not_exists(created_at, :now)',
      condition:
        'attribute_not_exists(pk) OR (project_id = :project AND (attribute_not_exists(collecting_until) OR collecting_until < :now))',
      names: { '#name': 'name' },
      values: {
        ':name': repository,
        ':org': org_id,
        ':project': project_id,
        ':app': app_slug,
        ':until': pushableUntil(intent),
        ':now': created_at,
      },
    },
    refuse('artifact.collected'),
  );
}

/** Of many who unwrap at once, one does; the others decide again, and find it done. */
export function saveUnwrapped(intent: Intent): Write {
  const { project_id, id, unwrapped_at, unwrapped_by, credential_expires_at } = intent;
  return update(intentKey(project_id, id), {
    update:
      'SET #status = :unwrapped, unwrapped_at = :at, unwrapped_by = :by, credential_expires_at = :ends REMOVE gsi1pk, gsi1sk',
    condition: '#status = :open',
    names: { '#status': 'status' },
    values: {
      ':unwrapped': 'unwrapped',
      ':open': 'open',
      ':at': unwrapped_at,
      ':by': unwrapped_by,
      ':ends': credential_expires_at,
    },
  });
}
