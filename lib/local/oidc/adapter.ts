import { errors, type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import type { Journal } from '../journal/journal.ts';

const SWEEP_SECONDS = 60;
/** The provider tells an expired code from an unknown one for a while. */
const REMEMBERED_SECONDS = 300;

/**
 * Keeps what the provider must remember (sessions, grants, codes, refresh tokens) in the journal, so a restart
 * signs nobody out.
 */
export function createAdapterFactory(journal: Journal): AdapterFactory {
  journal.exec(`
    CREATE TABLE IF NOT EXISTS oidc_model (
      kind TEXT NOT NULL,
      id TEXT NOT NULL,
      payload TEXT NOT NULL,
      grant_id TEXT,
      uid TEXT,
      user_code TEXT,
      expires_at INTEGER,
      PRIMARY KEY (kind, id)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS oidc_model_grant ON oidc_model (grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS oidc_model_uid ON oidc_model (uid) WHERE uid IS NOT NULL;
    CREATE INDEX IF NOT EXISTS oidc_model_user_code ON oidc_model (user_code) WHERE user_code IS NOT NULL;
    CREATE INDEX IF NOT EXISTS oidc_model_expiry ON oidc_model (expires_at);
  `);
  const upsert = journal.prepare(
    'INSERT OR REPLACE INTO oidc_model (kind, id, payload, grant_id, uid, user_code, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const find = journal.prepare('SELECT payload FROM oidc_model WHERE kind = ? AND id = ?');
  const findByUid = journal.prepare('SELECT payload FROM oidc_model WHERE kind = ? AND uid = ?');
  const findByUserCode = journal.prepare('SELECT payload FROM oidc_model WHERE kind = ? AND user_code = ?');
  const consume = journal.prepare(
    `UPDATE oidc_model SET payload = json_set(payload, '$.consumed', ?)
     WHERE kind = ? AND id = ? AND payload ->> '$.consumed' IS NULL`,
  );
  const destroy = journal.prepare('DELETE FROM oidc_model WHERE kind = ? AND id = ?');
  const revoke = journal.prepare('DELETE FROM oidc_model WHERE kind = ? AND grant_id = ?');
  const sweep = journal.prepare('DELETE FROM oidc_model WHERE expires_at < ?');

  let sweptAt = 0;
  const sweepNowAndThen = (): void => {
    if (epochSeconds() - sweptAt < SWEEP_SECONDS) return;
    sweptAt = epochSeconds();
    sweep.run(sweptAt - REMEMBERED_SECONDS);
  };

  return (kind): Adapter => ({
    async upsert(id, payload, expiresInSeconds) {
      sweepNowAndThen();
      const { grantId = null, uid = null, userCode = null } = payload;
      const expiresAt = expiresInSeconds === undefined ? null : epochSeconds() + expiresInSeconds;
      upsert.run(kind, id, JSON.stringify(payload), grantId, uid, userCode, expiresAt);
    },
    find: async (id) => read(find.get(kind, id)),
    findByUid: async (uid) => read(findByUid.get(kind, uid)),
    findByUserCode: async (userCode) => read(findByUserCode.get(kind, userCode)),
    async consume(id) {
      // The provider looked before, but another request may have been quicker.
      if (consume.run(epochSeconds(), kind, id).changes === 0)
        throw new errors.InvalidGrant('it has been used already');
    },
    async destroy(id) {
      destroy.run(kind, id);
    },
    async revokeByGrantId(grantId) {
      revoke.run(kind, grantId);
    },
  });
}

function read(row: Record<string, unknown> | undefined): AdapterPayload | undefined {
  return row === undefined ? undefined : (JSON.parse(String(row['payload'])) as AdapterPayload);
}

const epochSeconds = (): number => Math.floor(Date.now() / 1000);
