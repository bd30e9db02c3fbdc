import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { digestManifest } from './digest-manifest.ts';
import { requireRegistrable } from './registration.ts';
import { findRegistered } from './registration-store.ts';
import { MANIFEST_TEXT, requireManifest, SentManifest } from './sent-manifest.ts';
import { planSubmission, subjectOfSubmission, SubmissionSubmitted, Submission } from './submission.ts';
import { insertSubmission } from './submission-store.ts';

export const submitManifest = command(
  {
    summary: 'Submit a manifest for review',
    action: 'manifests.submission.submit',
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: Submission,
    status: 201,
    refusals: [
      'manifest.malformed',
      'manifest.invalid',
      'project.archived',
      'app.slug_taken',
      'app.backend_fixed',
      'app.too_many_versions',
      'version.exists',
      'promotion.in_progress',
    ],
  },
  async (ctx, { body }) => {
    const project = projectOf(ctx);
    const manifest = requireManifest(body);
    const place = { org_id: project.org_id, project_id: project.id };
    // Approval checks this again; checking now saves a review.
    requireRegistrable(manifest, await findRegistered(manifest), place);
    const handedIn = { manifest, digest: digestManifest(manifest), actor: nameActor(ctx.actor) };
    const submission = planSubmission(ctx.newId(), project, handedIn, ctx.now());
    return {
      subject: subjectOfSubmission(submission),
      after: submission,
      writes: insertSubmission(submission, manifest),
      events: [SubmissionSubmitted(submission)],
      reply: submission,
      location: `/api/v1/projects/${project.id}/apps/submissions/${submission.id}`,
    };
  },
);
