import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import { SCHEMA_DIALECT, SCHEMA_FORMATS, SCHEMA_TYPES } from '../functions/manifests/json-schema.ts';
import { Component, Resources, RuntimeProfileAsSent } from '../functions/manifests/manifest-profile.ts';
import {
  AppPart,
  ManifestAsSent,
  OTHER_SPELLINGS,
  VersionPart,
} from '../functions/manifests/manifest-schema.ts';
import type { Schema } from '../functions/docs/document.ts';

export type SchemaDocument = Schema & { $schema: string; $id: string; $defs: Record<string, Schema> };

/** The manifest as a JSON Schema, for editors and for those who check before they send. */
export function buildManifestSchema(): SchemaDocument {
  const parts = {
    nested: ManifestAsSent,
    ...OTHER_SPELLINGS,
    app: AppPart,
    version: VersionPart,
    runtime_profile: RuntimeProfileAsSent,
    component: Component,
    resources: Resources,
  };
  const definitions = toJsonSchemaDefs(parts as Parameters<typeof toJsonSchemaDefs>[0], {
    typeMode: 'input',
    target: 'draft-2020-12',
    // The schemas of app teams are described by hand: valibot only knows that they are objects.
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'record' ? { ...SELF, description: jsonSchema.description } : undefined,
  });
  const document = {
    $schema: SCHEMA_DIALECT,
    $id: '/api/v1/schemas/app-manifest/v1',
    title: 'App manifest, version 1',
    description:
      'An app and one version of it, or several, in one of two forms: app and version as separate objects, or all fields at the top level. Registration checks more than a schema can express; docs/manifest.md lists the checks.',
    anyOf: ['nested', ...Object.keys(OTHER_SPELLINGS)].map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: { ...withReferences(definitions as Record<string, Schema>), schema: SUBSET },
  };
  return JSON.parse(JSON.stringify(document, withoutEmpty)) as SchemaDocument;
}

/** Defines each part once; a different description is placed next to the reference. */
function withReferences(definitions: Record<string, Schema>): Record<string, Schema> {
  const names = new Map(Object.entries(definitions).map(([name, part]) => [partOf(part), name]));
  const referring = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(referring);
    if (typeof node !== 'object' || node === null) return node;
    const { description, default: usual } = node as Schema;
    const name = names.get(partOf(node));
    if (name !== undefined) return { $ref: `#/$defs/${name}`, description, default: usual };
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, referring(inner)]));
  };
  return Object.fromEntries(
    Object.entries(definitions).map(([name, part]) => [
      name,
      Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, referring(inner)])) as Schema,
    ]),
  );
}

function partOf({ description: _description, default: _default, ...part }: Schema): string {
  return JSON.stringify(part);
}

const SELF = { $ref: '#/$defs/schema' };
const COUNT = { type: 'integer', minimum: 0 };
const NUMBER = { type: 'number' };

/** What functions/manifests/json-schema.ts accepts, as far as a schema can say it. */
const SUBSET = {
  type: 'object',
  description: 'A JSON Schema in the subset of 2020-12 that launch forms support.',
  required: ['type'],
  additionalProperties: false,
  properties: {
    $schema: { const: SCHEMA_DIALECT },
    type: { enum: [...SCHEMA_TYPES] },
    title: { type: 'string', maxLength: 200 },
    description: { type: 'string', maxLength: 2000 },
    deprecated: { type: 'boolean' },
    default: {},
    const: {},
    enum: { type: 'array', minItems: 1, maxItems: 200 },
    properties: { type: 'object', additionalProperties: SELF },
    required: { type: 'array', items: { type: 'string' } },
    additionalProperties: { type: 'boolean' },
    minProperties: COUNT,
    maxProperties: COUNT,
    items: SELF,
    minItems: COUNT,
    maxItems: COUNT,
    uniqueItems: { type: 'boolean' },
    minLength: COUNT,
    maxLength: COUNT,
    pattern: { type: 'string', maxLength: 200 },
    format: { enum: Object.keys(SCHEMA_FORMATS) },
    minimum: NUMBER,
    maximum: NUMBER,
    exclusiveMinimum: NUMBER,
    exclusiveMaximum: NUMBER,
    multipleOf: NUMBER,
  },
};

function withoutEmpty(key: string, value: unknown): unknown {
  return key === 'required' && Array.isArray(value) && value.length === 0 ? undefined : value;
}
