import * as v from 'valibot';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { queryPage, readItem } from '../platform/data/table.ts';
import { type IntentId, lowerCased, type ProjectId } from '../platform/ids.ts';
import { saveOpened } from '../storage/keep-repository.ts';
import { Intent, pushableUntil } from './intent.ts';
import { intentKey, OPEN_INTENTS } from './keys.ts';
import { refuse } from './problems.ts';

/** Another project's is as unknown as one that never was. */
export async function findIntent(projectId: ProjectId, id: IntentId): Promise<Intent> {
  const item = await readItem(intentKey(lowerCased(id)));
  if (item?.['project_id'] !== projectId) throw refuse('intent.unknown');
  return v.parse(Intent, item);
}

const LAPSED_MAX = 500;
const Lapsed = v.pick(Intent, ['project_id', 'id']);

/** Open intents whose time is over; what is beyond comes next time. */
export async function listLapsedIntents(now: Date): Promise<v.InferOutput<typeof Lapsed>[]> {
  const { items } = await queryPage({
    index: 'gsi1',
    condition: 'gsi1pk = :open AND gsi1sk <= :now',
    values: { ':open': OPEN_INTENTS, ':now': now.toISOString() },
    limit: LAPSED_MAX,
  });
  return items.map((item) => v.parse(Lapsed, item));
}

/** Adds the intent and opens its repository. Fails while the repository is being cleaned. */
export function insertIntent(intent: Intent): Write[] {
  const { id, repository, org_id, project_id, app_slug, open_until, created_at } = intent;
  const opened = { name: repository, org_id, project_id, app_slug, open_until: pushableUntil(intent) };
  return [
    putNew({ ...intentKey(id), ...intent, gsi1pk: OPEN_INTENTS, gsi1sk: open_until }),
    saveOpened(opened, created_at, refuse('artifact.collected')),
  ];
}

/** Of concurrent requests one unwraps; the others are decided again and find it unwrapped. */
export function saveUnwrapped(intent: Intent): Write {
  const { id, unwrapped_at, unwrapped_by, credential_expires_at } = intent;
  return update(intentKey(id), {
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

/** Removes the hash of its token, unless the credential was unwrapped meanwhile. */
export function saveExpired({ id }: Intent): Write {
  return update(intentKey(id), {
    update: 'SET #status = :expired REMOVE gsi1pk, gsi1sk, token_hash',
    condition: '#status = :open',
    names: { '#status': 'status' },
    values: { ':expired': 'expired', ':open': 'open' },
  });
}
