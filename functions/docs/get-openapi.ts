import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { document, query } from '../platform/http/endpoint.ts';
import { CACHED } from './caching.ts';
import { openapiText } from './openapi.ts';

const Openapi = v.looseObject({
  openapi: v.literal('3.1.0'),
  info: v.looseObject({ title: v.string(), version: v.string() }),
  paths: v.record(v.string(), v.unknown()),
});

export const getOpenapi = query({ summary: 'Get the OpenAPI document of this API', reply: Openapi }, () => {
  const text = openapiText();
  const digest = createHash('sha256').update(text).digest('base64url');
  return document(text, { ...CACHED, etag: `"${digest}"` });
});
