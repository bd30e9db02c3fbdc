import { document, query } from '../platform/http/endpoint.ts';
import { cachedBy } from './caching.ts';
import { readAgentBundle } from './read-agent-bundle.ts';

export const getAgentBundle = query(
  {
    summary: 'Get the program that hosts run; check it against the signed release',
    media: 'text/javascript; charset=utf-8',
  },
  () => {
    const { text } = readAgentBundle();
    return document(text, cachedBy(text));
  },
);
