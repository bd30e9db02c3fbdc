// Writes what is made of the wire schemas and the events and kept in docs/, so that people find it where they look.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dump } from 'js-yaml';
import { format, resolveConfig } from 'prettier';
import { buildAsyncapi } from '../lib/asyncapi.ts';
import { buildManifestSchema } from '../lib/manifest-schema.ts';
import { withTables } from '../lib/manifest-tables.ts';

const SCHEMA = 'docs/schemas/app-manifest.v1.schema.json';
const PAGE = 'docs/manifest.md';
const EVENTS = 'docs/asyncapi.yaml';
const style = await resolveConfig(PAGE);

const schema = buildManifestSchema();
mkdirSync('docs/schemas', { recursive: true });
writeFileSync(SCHEMA, await format(JSON.stringify(schema), { ...style, parser: 'json' }));
writeFileSync(
  PAGE,
  await format(withTables(readFileSync(PAGE, 'utf8'), schema), { ...style, parser: 'markdown' }),
);
writeFileSync(EVENTS, await format(dump(buildAsyncapi(), { noRefs: true }), { ...style, parser: 'yaml' }));
process.stdout.write(`${SCHEMA}\n${PAGE}\n${EVENTS}\n`);
