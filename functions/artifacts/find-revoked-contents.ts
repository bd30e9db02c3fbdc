import { readItems } from '../platform/data/rows.ts';
import type { ProjectId } from '../platform/ids.ts';
import { revokedContentKey } from './keys.ts';

const TOGETHER_MAX = 100;

interface Published {
  digest: string;
  publisher_project_id: ProjectId;
}

/** Whether their publisher has revoked these bytes, in their order. */
export async function findRevokedContents(contents: Published[]): Promise<boolean[]> {
  const keyOf = ({ digest, publisher_project_id }: Published) =>
    revokedContentKey(digest, publisher_project_id);
  const nameOf = (content: Published): string => Object.values(keyOf(content)).join(' ');
  const distinct = [...new Map(contents.map((content) => [nameOf(content), content])).values()];
  const revoked = new Set<string>();
  for (let start = 0; start < distinct.length; start += TOGETHER_MAX) {
    const some = distinct.slice(start, start + TOGETHER_MAX);
    const rows = await readItems(some.map(keyOf));
    for (const [index, content] of some.entries()) if (rows[index]) revoked.add(nameOf(content));
  }
  return contents.map((content) => revoked.has(nameOf(content)));
}
