// The lines of an authorized_keys file that are the platform's. Pure.

/** How a line that was written here ends. A line that only looks similar is somebody else's, and is not touched. */
const marker = (ownerId: string): string => `gpuaas-managed:${ownerId}`;

const KEY = /^(?:ssh-ed25519|ecdsa-sha2-nistp256|ssh-rsa) [A-Za-z0-9+/]+={0,2}$/;

export interface Reconciled {
  text: string;
  added: number;
  removed: number;
}

/** The file as it shall be: this owner's lines are exactly these keys, and every other line stays as and where it is. */
export function reconcileKeys(text: string, ownerId: string, keys: readonly string[]): Reconciled {
  const suffix = ` ${marker(ownerId)}`;
  const wanted = new Set(keys);
  const kept = new Set<string>();
  let removed = 0;
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const staying = lines.filter((line) => {
    const key = line.endsWith(suffix) ? line.slice(0, -suffix.length) : undefined;
    if (key === undefined || !KEY.test(key)) return true;
    if (wanted.has(key) && !kept.has(key)) {
      kept.add(key);
      return true;
    }
    removed++;
    return false;
  });
  const added = [...wanted].filter((key) => !kept.has(key));
  const all = [...staying, ...added.map((key) => key + suffix)];
  if (added.length === 0 && removed === 0) return { text, added: 0, removed: 0 };
  return { text: all.length === 0 ? '' : `${all.join('\n')}\n`, added: added.length, removed };
}
