import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { lowerCased, ProjectId } from '../platform/ids.ts';
import { validatePackage } from './validate-package.ts';
import { MANIFEST_TEXT, SentManifest, ValidationView } from './sent-manifest.ts';

/** The checks are those of a registration. */
export const validateManifest = query(
  {
    summary: 'Validate a manifest and list every problem, without changing anything',
    query: v.strictObject({
      project_id: v.optional(
        v.pipe(ProjectId, v.description('The project that would own a new app; the platform if omitted')),
      ),
    }),
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: ValidationView,
    refusals: ['manifest.malformed', 'project.unknown', 'project.archived'],
  },
  (_, { query: { project_id }, body }) => validatePackage(body, project_id && lowerCased(project_id)),
);
