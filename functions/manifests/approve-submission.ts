import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import { auditRegistration, planRegistration, VersionRegistered } from './registration.ts';
import { findRegistered, saveRegistration } from './registration-store.ts';
import {
  approve,
  ApproveSubmission,
  placeOfSubmission,
  subjectOfSubmission,
  SubmissionApproved,
  SubmissionParams,
  Submission,
} from './submission.ts';
import { findSubmissionInFull, saveSubmission } from './submission-store.ts';

export const approveSubmission = command(
  {
    summary: 'Approve a submission: its version is registered as a draft of the project that submitted it',
    action: 'manifests.submission.approve',
    params: SubmissionParams,
    body: ApproveSubmission,
    reply: Submission,
    refusals: [
      'submission.own',
      'submission.decided',
      'precondition.failed',
      'app.slug_taken',
      'app.backend_fixed',
      'app.too_many',
      'app.too_many_versions',
      'version.exists',
      'promotion.in_progress',
    ],
  },
  async (ctx, { params, body }) => {
    const { submission, manifest } = await findSubmissionInFull(params.submission_id);
    const stale = requireVersion(submission, ctx.ifMatch);
    const place = placeOfSubmission(submission);
    const actor = nameActor(ctx.actor);
    const approved = approve(submission, { actor, notes: body.notes }, ctx.now());
    // Only the submission says which app it is about, so this is a read of its own.
    const [registered = {}] = (await findRegistered([manifest])).registered;
    const by = { owner: place, actor };
    const registration = planRegistration(manifest, submission.manifest_digest, registered, by, ctx.now());
    return {
      subject: subjectOfSubmission(submission),
      before: submission,
      after: approved,
      also: [auditRegistration(registered.version, registration.version)],
      reason: body.notes,
      place,
      writes: [
        ...saveSubmission(submission, approved, stale),
        ...saveRegistration(registered, registration, manifest),
      ],
      events: [SubmissionApproved(approved), VersionRegistered(registration.version)],
      reply: approved,
    };
  },
);
