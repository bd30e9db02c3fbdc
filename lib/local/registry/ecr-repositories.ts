import type { Journal } from '../journal/journal.ts';
import type { TagMutability } from './ecr-input.ts';

export interface Repository {
  name: string;
  tagMutability: TagMutability;
  /** Wildcards for the tags that may move all the same. */
  exclusions: string[];
  createdAtMs: number;
}

/** Which repositories exist. Their images are the registry's; this list is what makes a push there legitimate. */
export class Repositories {
  #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
    journal.exec(`CREATE TABLE IF NOT EXISTS ecr_repositories (
      name TEXT PRIMARY KEY, tag_mutability TEXT NOT NULL, created_at_ms INTEGER NOT NULL) STRICT`);
    // Beside it, so that a journal begun without exclusions serves as well.
    journal.exec(`CREATE TABLE IF NOT EXISTS ecr_tag_exclusions (
      name TEXT PRIMARY KEY, filters TEXT NOT NULL) STRICT`);
  }

  get(name: string): Repository | undefined {
    const row = this.#journal.prepare(`${SELECT} WHERE name = ?`).get(name) as Row | undefined;
    return row && parse(row);
  }

  /** By name. */
  list(): Repository[] {
    return (this.#journal.prepare(`${SELECT} ORDER BY name`).all() as unknown as Row[]).map(parse);
  }

  /** False when a repository of that name exists already. */
  insert({ name, tagMutability, exclusions, createdAtMs }: Repository): boolean {
    const { changes } = this.#journal
      .prepare('INSERT INTO ecr_repositories VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(name, tagMutability, createdAtMs);
    if (changes === 1) this.#setExclusions(name, exclusions);
    return changes === 1;
  }

  setTagRule({ name, tagMutability, exclusions }: Omit<Repository, 'createdAtMs'>): void {
    this.#journal
      .prepare('UPDATE ecr_repositories SET tag_mutability = ? WHERE name = ?')
      .run(tagMutability, name);
    this.#setExclusions(name, exclusions);
  }

  #setExclusions(name: string, exclusions: string[]): void {
    this.#journal
      .prepare('INSERT OR REPLACE INTO ecr_tag_exclusions VALUES (?, ?)')
      .run(name, JSON.stringify(exclusions));
  }

  delete(name: string): void {
    this.#journal.prepare('DELETE FROM ecr_repositories WHERE name = ?').run(name);
  }
}

/** Whether a tag stays where it points once it points anywhere. */
export function isFixedTag({ tagMutability, exclusions }: Repository, tag: string): boolean {
  if (tagMutability === 'MUTABLE') return false;
  return !exclusions.some((filter) => matchesWildcard(filter, tag));
}

function matchesWildcard(filter: string, tag: string): boolean {
  const parts = filter.split('*').map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${parts.join('.*')}$`).test(tag);
}

type Row = Omit<Repository, 'exclusions'> & { filters: string | null };

const parse = ({ filters, ...repository }: Row): Repository => ({
  ...repository,
  exclusions: JSON.parse(filters ?? '[]') as string[],
});

const SELECT =
  'SELECT name, tag_mutability AS tagMutability, created_at_ms AS createdAtMs, filters FROM ecr_repositories LEFT JOIN ecr_tag_exclusions USING (name)';
