import { unpackText } from './packed-text.ts';

/** The document, packed. `lib/bundle.ts` puts it in this place: it is made of the events whenever these are bundled. */
declare const ASYNCAPI_DOCUMENT: string;

let text: string | undefined;

export const asyncapiText = (): string => (text ??= unpackText(ASYNCAPI_DOCUMENT));
