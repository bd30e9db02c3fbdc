/** The document as text. `lib/bundle.ts` puts it in this place: it is made of the events whenever these are bundled. */
declare const ASYNCAPI_DOCUMENT: string;

export const asyncapiText = (): string => ASYNCAPI_DOCUMENT;
