import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { digestManifest } from './digest-manifest.ts';
import { requireRegistrable } from './registration.ts';
import { findRegistered } from './registration-store.ts';
import { MANIFEST_TEXT, requirePackage, requirePlaced, SentManifest } from './sent-manifest.ts';
import { planSubmission, subjectOfSubmission, SubmissionSubmitted, Submission } from './submission.ts';
import { insertSubmission } from './submission-store.ts';

/** Where several versions were sent as a list. */
const SubmissionsView = v.object({ submissions: v.array(Submission) });

export const submitManifest = command(
  {
    summary: 'Submit a manifest for review, each version as a submission of its own',
    action: 'manifests.submission.submit',
    body: SentManifest,
    parseText: MANIFEST_TEXT,
    reply: v.union([Submission, SubmissionsView]),
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
    const sent = requirePackage(body);
    const manifests = requirePlaced(sent.versions, project.slug);
    const place = { org_id: project.org_id, project_id: project.id };
    // Approval checks this again; checking now saves a review.
    requireRegistrable(manifests, (await findRegistered(manifests)).registered, place);
    const handedIn = manifests.map((manifest) => {
      const told = { manifest, digest: digestManifest(manifest), actor: nameActor(ctx.actor) };
      return { manifest, submission: planSubmission(ctx.newId(), project, told, ctx.now()) };
    });
    const submissions = handedIn.map(({ submission }) => submission);
    const path = `/api/v1/projects/${project.id}/apps/submissions`;
    const [first, ...others] = submissions.map((submission) => ({
      subject: subjectOfSubmission(submission),
      after: submission,
    }));
    if (!first) throw new Error('There is no version to submit.');
    return {
      ...first,
      also: others,
      writes: handedIn.flatMap(({ submission, manifest }) => insertSubmission(submission, manifest)),
      events: submissions.map((submission) => SubmissionSubmitted(submission)),
      ...(sent.isList
        ? { reply: { submissions }, location: path }
        : { reply: first.after, location: `${path}/${first.after.id}` }),
    };
  },
);
