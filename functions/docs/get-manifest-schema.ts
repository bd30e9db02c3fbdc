import { createHash } from 'node:crypto';
import * as v from 'valibot';
import schema from '../../docs/schemas/app-manifest.v1.schema.json' with { type: 'json' };
import { document, query } from '../platform/http/endpoint.ts';
import { CACHED } from './caching.ts';

const JsonSchema = v.looseObject({
  $schema: v.literal('https://json-schema.org/draft/2020-12/schema'),
  $id: v.string(),
});

const text = JSON.stringify(schema);
const digest = createHash('sha256').update(text).digest('base64url');

export const getManifestSchema = query(
  {
    summary: 'Get the JSON Schema of app manifests, for editors and for checks before submission',
    reply: JsonSchema,
    media: 'application/schema+json',
  },
  () => document(text, { ...CACHED, etag: `"${digest}"` }),
);
