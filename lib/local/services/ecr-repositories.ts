import type { Journal } from '../journal.ts';
import type { TagMutability } from './ecr-input.ts';

export interface Repository {
  name: string;
  tagMutability: TagMutability;
  createdAtMs: number;
}

/** Which repositories exist. Their images are the registry's; this list is what makes a push there legitimate. */
export class Repositories {
  #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
    journal.exec(`CREATE TABLE IF NOT EXISTS ecr_repositories (
      name TEXT PRIMARY KEY, tag_mutability TEXT NOT NULL, created_at_ms INTEGER NOT NULL) STRICT`);
  }

  get(name: string): Repository | undefined {
    return this.#journal.prepare(`${SELECT} WHERE name = ?`).get(name) as Repository | undefined;
  }

  /** By name. */
  list(): Repository[] {
    return this.#journal.prepare(`${SELECT} ORDER BY name`).all() as unknown as Repository[];
  }

  /** False when a repository of that name exists already. */
  insert({ name, tagMutability, createdAtMs }: Repository): boolean {
    const { changes } = this.#journal
      .prepare('INSERT INTO ecr_repositories VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(name, tagMutability, createdAtMs);
    return changes === 1;
  }

  setTagMutability(name: string, tagMutability: TagMutability): void {
    this.#journal
      .prepare('UPDATE ecr_repositories SET tag_mutability = ? WHERE name = ?')
      .run(tagMutability, name);
  }

  delete(name: string): void {
    this.#journal.prepare('DELETE FROM ecr_repositories WHERE name = ?').run(name);
  }
}

const SELECT =
  'SELECT name, tag_mutability AS tagMutability, created_at_ms AS createdAtMs FROM ecr_repositories';
