import { createHash } from 'node:crypto';
import { document, query } from '../platform/http/endpoint.ts';
import { CACHED } from './caching.ts';
import type { OpenapiDocument } from './document.ts';
import { openapiText } from './openapi.ts';
import { renderPage } from './page.ts';
import { STYLE } from './style.ts';

const styleHash = createHash('sha256').update(STYLE).digest('base64');

const HEADERS = {
  ...CACHED,
  // The page is text and one style sheet: even injected markup could not run or load anything.
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
};

let page: string | undefined;

export const getDocs = query(
  { summary: 'Get the documentation of this API as a web page', media: 'text/html; charset=utf-8' },
  () => {
    page ??= renderPage(JSON.parse(openapiText()) as OpenapiDocument);
    return document(page, HEADERS);
  },
);
