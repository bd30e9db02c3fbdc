import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../functions/manifests/manifest-text.ts';
import { OTHER_SPELLINGS } from '../../functions/manifests/manifest-schema.ts';
import { readPackage } from '../../functions/manifests/manifest-package.ts';
import { buildManifestSchema } from '../../lib/manifest-schema.ts';
import { withTables } from '../../lib/manifest-tables.ts';

const RENEW = 'Renew it with: npm run schemas';

const page = readFileSync('docs/manifest.md', 'utf8');
const schema = buildManifestSchema();

describe('The schema of the manifest', () => {
  it('is kept as a file', () => {
    const kept: unknown = JSON.parse(readFileSync('docs/schemas/app-manifest.v1.schema.json', 'utf8'));
    expect(kept, RENEW).toEqual(schema);
  });

  it('is in the documentation, field by field', async () => {
    const style = await resolveConfig('docs/manifest.md');
    const made = await format(withTables(page, schema), { ...style, parser: 'markdown' });
    expect(made, RENEW).toBe(page);
  });

  it('says what each field means', () => {
    const silent = Object.entries(schema.$defs)
      .filter(([name]) => !['nested', 'schema', ...Object.keys(OTHER_SPELLINGS)].includes(name))
      .flatMap(([name, part]) => fieldsWithoutMeaning(part, name));
    expect(silent).toEqual([]);
  });

  it('refers only to what it holds', () => {
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(new Set(references)).toEqual(new Set(Object.keys(schema.$defs)));
  });
});

describe('The documentation of the manifest', () => {
  const examples = [...page.matchAll(/```(json|yaml)\n([\s\S]*?)```/g)].map(
    ([, language = '', text = '']) => ({
      language,
      text,
    }),
  );

  it('has examples in both spellings', () => {
    expect(examples.map(({ language }) => language)).toEqual(['json', 'yaml', 'yaml', 'yaml']);
  });

  it.each(examples)('has a $language example that works', ({ language, text }) => {
    const sent: unknown = language === 'json' ? JSON.parse(text) : parseYaml(text);
    expect(readPackage(sent, ['registry.gpuaas.example.com'])).toHaveProperty('versions');
  });
});

type Part = ReturnType<typeof buildManifestSchema>['$defs'][string];

function fieldsWithoutMeaning(part: Part, path: string): string[] {
  if (part.items) return fieldsWithoutMeaning(part.items, `${path}[]`);
  return Object.entries(part.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${path}.${name}`] : []),
    ...fieldsWithoutMeaning(field, `${path}.${name}`),
  ]);
}
