import { getDocs } from './get-docs.ts';
import { getOpenapi } from './get-openapi.ts';

export const docsEndpoints = { getOpenapi, getDocs };
