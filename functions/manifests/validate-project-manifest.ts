import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { validatePackage } from './validate-package.ts';
import { MANIFEST_TEXT, SentManifest, ValidationView } from './sent-manifest.ts';

/** The checks are those of a submission. */
export const validateProjectManifest = query(
  {
    summary: 'Validate a manifest of a project and list every problem, without changing anything',
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: ValidationView,
    refusals: ['manifest.malformed'],
  },
  (ctx, { body }) => validatePackage(body, projectOf(ctx)),
);
