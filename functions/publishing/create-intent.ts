import * as v from 'valibot';
import { type Uploads, uploadsFor } from './file-upload.ts';
import { requirePublisher } from '../artifacts/publication.ts';
import { repositoryOf } from '../storage/repository.ts';
import { readTrust } from '../artifacts/read-trust.ts';
import { findApp } from '../catalog/find-version.ts';
import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import {
  CreateIntent,
  type Intent,
  IntentCreated,
  IntentCreatedView,
  pathOfIntent,
  planIntent,
  subjectOfIntent,
  viewIntent,
} from './intent.ts';
import { insertIntent } from './intent-store.ts';
import { openRepository } from '../storage/open-repository.ts';
import { findRegistryHost } from '../storage/registry-host.ts';
import { signingRequirementsOf } from './signing-requirements.ts';

export const createIntent = command(
  {
    summary: 'Create a publish intent: get the address to publish to and the means to do so',
    action: 'artifacts.intent.create',
    params: v.object({ project_id: ProjectId }),
    body: CreateIntent,
    reply: IntentCreatedView,
    status: 201,
    refusals: ['project.archived', 'app.slug_taken', 'artifact.collected'],
  },
  async (ctx, { body }) => {
    const project = projectOf(ctx);
    const [app, trust] = await Promise.all([findApp(body.app_slug), readTrust()]);
    requirePublisher(project, app);
    const signing = signingRequirementsOf(repositoryOf(project.slug, body.app_slug), trust);
    const by = { project, actor: nameActor(ctx.actor), signing };
    const planned = planIntent(ctx.newId(), body, by, ctx.now());
    const { intent, secrets, more } =
      planned.source_type === 'oci_registry'
        ? await prepareImage(planned)
        : await prepareFile(planned, ctx.now());
    return {
      subject: subjectOfIntent(intent),
      after: viewIntent(intent, ctx.now()),
      writes: insertIntent(intent),
      events: [IntentCreated(intent)],
      reply: { ...viewIntent(intent, ctx.now()), ...more },
      secrets,
      location: pathOfIntent(intent),
    };
  },
);

interface Prepared {
  intent: Intent;
  secrets: Record<string, string>;
  /** What the answer says besides. */
  more?: Omit<Uploads, 'secrets'>;
}

/** The repository first: should the rest fail, it is empty and there for the next intent. */
async function prepareImage(planned: Intent): Promise<Prepared> {
  const [registry_host] = await Promise.all([findRegistryHost(), openRepository(planned.repository)]);
  const { token, tokenHash } = makeOneTimeToken();
  return {
    intent: { ...planned, registry_host, token_hash: tokenHash },
    secrets: { wrapping_token: token },
  };
}

/** Files are uploaded to addresses that are secrets themselves: there is nothing to unwrap. */
async function prepareFile(planned: Intent, now: Date): Promise<Prepared> {
  const { secrets, ...more } = await uploadsFor(planned, planned.credential_ttl_seconds, now);
  return { intent: planned, secrets, more };
}
