import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** A block of shell commands of a page, and the heading it stands under. */
export interface ShellBlock {
  heading: string;
  commands: string;
}

/** The pages that people copy commands from. */
export const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).toSorted();

export function shellBlocksOf(page: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let heading = '';
  const text = readFileSync(join(ROOT, page), 'utf8');
  for (const [, title, commands] of text.matchAll(/^#+ (.+)$|^ *```sh\n([\s\S]*?)^ *```$/gm)) {
    if (title !== undefined) heading = title;
    else if (commands !== undefined) blocks.push({ heading, commands });
  }
  return blocks;
}
