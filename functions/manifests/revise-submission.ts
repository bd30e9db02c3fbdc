import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import { digestManifest } from './digest-manifest.ts';
import { requireRegistrable } from './registration.ts';
import { MANIFEST_TEXT, requireManifest, SentManifest } from './sent-manifest.ts';
import {
  placeOfSubmission,
  revise,
  subjectOfSubmission,
  SubmissionParams,
  SubmissionRevised,
  Submission,
} from './submission.ts';
import { findSubmissionAndRegistered, saveSubmission } from './submission-store.ts';

export const reviseSubmission = command(
  {
    summary: 'Replace the manifest of a submission',
    action: 'manifests.submission.revise',
    params: SubmissionParams,
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: Submission,
    refusals: [
      'manifest.malformed',
      'manifest.invalid',
      'submission.decided',
      'precondition.failed',
      'app.slug_taken',
      'app.backend_fixed',
      'app.too_many_versions',
      'version.exists',
      'promotion.in_progress',
    ],
  },
  async (ctx, { params, body }) => {
    const project = projectOf(ctx);
    const manifest = requireManifest(body, project.slug);
    const { submission, registered } = await findSubmissionAndRegistered(
      params.submission_id,
      project.id,
      manifest,
    );
    const stale = requireVersion(submission, ctx.ifMatch);
    const handedIn = { manifest, digest: digestManifest(manifest), actor: nameActor(ctx.actor) };
    const revised = revise(submission, handedIn, ctx.now());
    requireRegistrable([manifest], registered, placeOfSubmission(submission));
    return {
      subject: subjectOfSubmission(submission),
      before: submission,
      after: revised,
      writes: saveSubmission(submission, revised, stale, manifest),
      events: [SubmissionRevised(revised)],
      reply: revised,
    };
  },
);
