import { getAsyncapi } from './get-asyncapi.ts';
import { getDocs } from './get-docs.ts';
import { getManifestSchema } from './get-manifest-schema.ts';
import { getOpenapi } from './get-openapi.ts';

export const docsEndpoints = { getOpenapi, getAsyncapi, getDocs, getManifestSchema };
