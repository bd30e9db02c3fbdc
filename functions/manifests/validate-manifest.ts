import { query } from '../platform/http/endpoint.ts';
import { readManifest } from './manifest.ts';
import { obstaclesOf } from './registration.ts';
import { findRegistered } from './registration-store.ts';
import { MANIFEST_TEXT, SentManifest, ValidationView } from './sent-manifest.ts';

/** For a project the checks are those of a submission; for the platform, those of a registration. */
export const validateManifest = query(
  {
    summary: 'Validate a manifest and list every problem, without changing anything',
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: ValidationView,
    refusals: ['manifest.malformed'],
  },
  async (ctx, { body }) => {
    const read = readManifest(body);
    if ('problems' in read) return { valid: false, problems: read.problems };
    const { manifest } = read;
    const owner = ctx.project && { org_id: ctx.project.org_id, project_id: ctx.project.id };
    const obstacles = obstaclesOf(manifest, await findRegistered(manifest), owner);
    const problems = obstacles.map(({ code: _code, ...problem }) => problem);
    return { valid: problems.length === 0, problems, manifest };
  },
);
