import { unpackText } from './packed-text.ts';

/** The document, packed. `lib/bundle.ts` puts it in this place: it is made of the routes whenever these are bundled. */
declare const OPENAPI_DOCUMENT: string;

let text: string | undefined;

export const openapiText = (): string => (text ??= unpackText(OPENAPI_DOCUMENT));
