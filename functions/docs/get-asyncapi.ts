import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { document, query } from '../platform/http/endpoint.ts';
import { asyncapiText } from './asyncapi.ts';
import { CACHED } from './caching.ts';

const Asyncapi = v.looseObject({
  asyncapi: v.literal('3.0.0'),
  info: v.looseObject({ title: v.string(), version: v.string() }),
  channels: v.record(v.string(), v.unknown()),
});

export const getAsyncapi = query(
  { summary: 'Get the AsyncAPI document of the platform’s events', reply: Asyncapi },
  () => {
    const text = asyncapiText();
    const digest = createHash('sha256').update(text).digest('base64url');
    return document(text, { ...CACHED, etag: `"${digest}"` });
  },
);
