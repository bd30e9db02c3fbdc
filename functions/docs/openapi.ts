/** The document as text. `lib/bundle.ts` puts it in this place: it is made of the routes whenever these are bundled. */
declare const OPENAPI_DOCUMENT: string;

export const openapiText = (): string => OPENAPI_DOCUMENT;
