// A publish intent: what a project is about to push, where to, and the one credential it may do so with.

import * as v from 'valibot';
import { ARTIFACT_KINDS, ArtifactName, KeptName } from '../artifacts/artifact.ts';
import { ArtifactSource, requireSourceType } from '../artifacts/publication.ts';
import { fileUri, objectKeyOf, repositoryOf } from '../storage/repository.ts';
import { wholeNumber } from '../manifests/manifest-fields.ts';
import { Digest } from '../platform/name.ts';
import { IntentId, ProjectId, textOf } from '../platform/ids.ts';
import type { ScopedProject } from '../platform/scope.ts';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { OneTimeToken, Time } from '../platform/name.ts';
import { refuse } from './problems.ts';

const OPEN_SECONDS = 24 * 3600;
/** Who asks later what became of it still finds it. */
const KEPT_SECONDS = 30 * 24 * 3600;
const CREDENTIAL_SECONDS = { least: 60, most: 3600, default: 900 };

export const IntentParams = v.object({ project_id: ProjectId, intent_id: IntentId });

export const CreateIntent = v.strictObject({
  ...ArtifactName,
  ...ArtifactSource,
  /** Of a file, where it is known: nothing else can then be uploaded. */
  digest: v.optional(Digest),
  credential_ttl_seconds: v.optional(
    wholeNumber(CREDENTIAL_SECONDS.least, CREDENTIAL_SECONDS.most),
    CREDENTIAL_SECONDS.default,
  ),
});
export type CreateIntent = v.InferOutput<typeof CreateIntent>;

export const UnwrapCredential = v.strictObject({ wrapping_token: OneTimeToken });

/** What a signature must be for the platform to trust what is pushed, as of when the intent was made. */
export const SigningRequirements = v.object({
  /** Nothing runs that nobody signed. */
  signature_required: v.literal(true),
  signature_scheme: v.literal('notation-jws'),
  /** SHA-256 over the root certificate a signer's chain must end at; null while no policy covers the repository. */
  signing_key_id: v.nullable(v.string()),
  trust_policy: v.nullable(v.string()),
  accepted_identities: v.array(v.string()),
  provenance_required: v.boolean(),
});
export type SigningRequirements = v.InferOutput<typeof SigningRequirements>;

const STATUSES = ['open', 'unwrapped', 'expired'] as const;

export const Intent = v.object({
  id: textOf<IntentId>(),
  ...KeptName,
  channel: v.string(),
  digest: v.optional(v.string()),
  repository: v.string(),
  /** Of an image. Both are suggestions of no consequence: its digest decides. */
  registry_host: v.optional(v.string()),
  tag: v.optional(v.string()),
  source_uri: v.string(),
  signing: SigningRequirements,
  credential_ttl_seconds: v.number(),
  /** Of an image: whoever has the token may unwrap the credential. */
  token_hash: v.optional(v.string()),
  status: v.picklist(STATUSES),
  open_until: v.string(),
  unwrapped_at: v.optional(v.string()),
  unwrapped_by: v.optional(v.string()),
  credential_expires_at: v.optional(v.string()),
  created_by: v.string(),
  created_at: v.string(),
  /** Seconds since 1970: the table forgets it then by itself. */
  expires_at: v.number(),
});
export type Intent = v.InferOutput<typeof Intent>;

export const IntentView = v.object({
  ...v.omit(Intent, ['org_id', 'signing', 'token_hash', 'open_until', 'expires_at', 'credential_expires_at'])
    .entries,
  ...SigningRequirements.entries,
  /** What is pushed, as clients name it. */
  image: v.optional(v.string()),
  unwrap_path: v.optional(v.string()),
  /** Until then it can be used. */
  expires_at: Time,
  /** When the credential ends; null until it is unwrapped. */
  credential_expires_at: v.nullable(Time),
});
export type IntentView = v.InferOutput<typeof IntentView>;

/** Secrets are only in the first answer. */
export const IntentCreatedView = v.object({
  ...IntentView.entries,
  wrapping_token: v.optional(OneTimeToken),
  upload_path: v.optional(v.string()),
  signature_upload_path: v.optional(v.string()),
  provenance_upload_path: v.optional(v.string()),
  /** What the upload of the file must carry. */
  upload_headers: v.optional(v.record(v.string(), v.string())),
  upload_method: v.optional(v.literal('PUT')),
  upload_expires_at: v.optional(Time),
});

export const CredentialView = v.object({
  registry_host: v.string(),
  repository: v.string(),
  username: v.string(),
  password: v.optional(v.string()),
  expires_at: Time,
});

export function planIntent(
  id: IntentId,
  wanted: CreateIntent,
  by: { project: ScopedProject; actor: string; signing: SigningRequirements },
  now: Date,
): Intent {
  const { project, actor, signing } = by;
  const source_type = requireSourceType(wanted.artifact_kind, wanted.source_type);
  if (source_type === 'oci_registry') requireNoDigest(wanted);
  const repository = repositoryOf(project.slug, wanted.app_slug);
  const file = { ...wanted, project_id: project.id };
  return {
    ...wanted,
    id,
    org_id: project.org_id,
    project_id: project.id,
    source_type,
    repository,
    ...(source_type === 'oci_registry' && { tag: tagOf(wanted, id) }),
    source_uri: source_type === 'oci_registry' ? `oci://${repository}` : fileUri(objectKeyOf(file)),
    signing,
    status: 'open',
    open_until: secondsAfter(now, OPEN_SECONDS).toISOString(),
    created_by: actor,
    created_at: now.toISOString(),
    expires_at: epochSeconds(secondsAfter(now, KEPT_SECONDS)),
  };
}

/** Of an image it is known only when it was pushed. */
function requireNoDigest({ digest }: CreateIntent): void {
  if (digest === undefined) return;
  throw refuse('request.invalid', {
    faults: [
      { pointer: '/digest', detail: 'Expected no digest for an image: it is known only after the push.' },
    ],
  });
}

/** A new tag each time, because tags cannot be moved; `+` is not allowed in OCI tags. */
const tagOf = ({ channel, app_version }: CreateIntent, id: IntentId): string =>
  `${channel}-${app_version.replaceAll('+', '_')}-${id.slice(-8)}`;

const UNWRAP_REFUSALS = ['intent.wrong_token', 'intent.unwrapped', 'intent.expired'] as const;
export type UnwrapRefusal = (typeof UNWRAP_REFUSALS)[number];
export type UnwrapVerdict = 'unwrap' | UnwrapRefusal;

/** The token is checked first: without it a caller learns nothing about the credential. */
export function judgeUnwrap(intent: Intent, isTokenRight: boolean, now: Date): UnwrapVerdict {
  if (!isTokenRight) return 'intent.wrong_token';
  if (intent.status === 'unwrapped') return 'intent.unwrapped';
  return statusOf(intent, now) === 'expired' ? 'intent.expired' : 'unwrap';
}

export function unwrapped(intent: Intent, actor: string, now: Date): Intent {
  return {
    ...intent,
    status: 'unwrapped',
    unwrapped_at: now.toISOString(),
    unwrapped_by: actor,
    credential_expires_at: secondsAfter(now, intent.credential_ttl_seconds).toISOString(),
  };
}

/** When the last push must end: the intent may be unwrapped at the last moment, and older intents end earlier. */
export const pushableUntil = ({ open_until }: Intent): string =>
  secondsAfter(new Date(open_until), CREDENTIAL_SECONDS.most).toISOString();

/** Checked by time, because the sweep marks an intent as expired only later. */
function statusOf({ status, open_until }: Intent, now: Date): Intent['status'] {
  return status === 'open' && open_until <= now.toISOString() ? 'expired' : status;
}

export function viewIntent(intent: Intent, now: Date): IntentView {
  const { org_id: _org, token_hash, signing, open_until, expires_at: _kept, ...shown } = intent;
  const { registry_host, repository, tag } = intent;
  return {
    ...shown,
    ...signing,
    ...(registry_host !== undefined && { image: `${registry_host}/${repository}:${tag}` }),
    ...(token_hash !== undefined && { unwrap_path: `${pathOfIntent(intent)}/unwrap` }),
    status: statusOf(intent, now),
    expires_at: open_until,
    credential_expires_at: intent.credential_expires_at ?? null,
  };
}

export const subjectOfIntent = ({ id }: Pick<Intent, 'id'>): string => `publish_intent:${id}`;

export const pathOfIntent = ({ project_id, id }: Pick<Intent, 'project_id' | 'id'>): string =>
  `/api/v1/projects/${project_id}/app-artifacts/publish-intents/${id}`;

const Told = v.object({
  intent_id: IntentId,
  ...ArtifactName,
  artifact_kind: v.picklist(ARTIFACT_KINDS),
  repository: v.string(),
});

const tell = ({ id, ...intent }: Intent) => ({ intent_id: id, ...intent });

export const IntentCreated = event('apps.artifact.intent_created', 1, Told, tell);

export const IntentUnwrapped = event(
  'apps.artifact.intent_unwrapped',
  1,
  v.object({ ...Told.entries, credential_expires_at: v.optional(Time) }),
  tell,
);

/** Somebody else has the token, or tries to guess it: the owner must be informed. */
export const UnwrapRefused = event(
  'apps.artifact.unwrap_refused',
  1,
  v.object({ ...Told.entries, reason: v.picklist(UNWRAP_REFUSALS) }),
  (intent: Intent, reason: UnwrapRefusal) => ({ ...tell(intent), reason }),
);
