// Draws docs/architecture.md from the imports there are and the rules about them.

import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { type Rule, withArchitecture } from './architecture/draw.ts';
import { readImports } from './architecture/read-imports.ts';

const PAGE = 'docs/architecture.md';
const { forbidden } = JSON.parse(readFileSync('.dependency-cruiser.json', 'utf8')) as { forbidden: Rule[] };

const drawn = withArchitecture(readFileSync(PAGE, 'utf8'), await readImports('.'), forbidden);
writeFileSync(PAGE, await format(drawn, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
process.stdout.write(`${PAGE}\n`);
