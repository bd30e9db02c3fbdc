import * as v from 'valibot';
import { parseJson } from '../trust/strict-json.ts';
import {
  isDigest,
  readRepository,
  REFERRERS_MAX,
  type RegistryLogin,
  type RegistryReader,
} from '../storage/registry-client.ts';
import type { Attachment, Evidence } from '../trust/verification.ts';

const ENVELOPE_BYTES_MAX = 1024 * 1024;

const SIGNATURE = 'application/vnd.cncf.notary.signature';
const PROVENANCE = 'application/vnd.in-toto+json';

const Attached = v.object({
  subject: v.object({ digest: v.string() }),
  artifactType: v.optional(v.string()),
  config: v.optional(v.object({ mediaType: v.string() })),
  layers: v.array(v.object({ mediaType: v.string(), digest: v.string(), size: v.number() })),
});

/**
 * What is attached to an image in the registry. Anything malformed is not evidence. A registry that does not answer
 * leads to a refusal that may be retried, never to a verdict. The host's agent runs this very file.
 */
export async function findImageEvidence(
  { repository, digest }: { repository: string; digest: string },
  login: RegistryLogin,
): Promise<Evidence> {
  const evidence: Evidence = { signatures: [], provenances: [] };
  const registry = readRepository(repository, login);
  if (!(await registry.manifest(digest))) return { ...evidence, isContentAbsent: true };
  const found = (await registry.referrers(digest)).filter(mayBeEvidence).slice(0, REFERRERS_MAX);
  for (const referrer of found) {
    const attached = await readAttached(registry, referrer.digest, digest);
    if (attached?.type === SIGNATURE) evidence.signatures.push(attached.attachment);
    if (attached?.type === PROVENANCE) evidence.provenances.push(attached.attachment);
  }
  return evidence;
}

/** Older lists do not say what each is; then the manifest does. */
const mayBeEvidence = ({ artifactType = SIGNATURE }: { artifactType?: string }): boolean =>
  artifactType === SIGNATURE || artifactType === PROVENANCE;

async function readAttached(
  registry: RegistryReader,
  digest: string,
  subject: string,
): Promise<{ type: string; attachment: Attachment } | undefined> {
  if (!isDigest(digest)) return undefined;
  const manifest = await registry.manifest(digest);
  const parsed = v.safeParse(Attached, manifest && parseJson(manifest.bytes), { abortEarly: true });
  if (!parsed.success) return undefined;
  const attached = parsed.output;
  // A list may name what was made for something else.
  if (attached.subject.digest !== subject) return undefined;
  const [envelope, ...others] = attached.layers;
  if (!envelope || others.length > 0 || !isDigest(envelope.digest)) return undefined;
  if (envelope.size > ENVELOPE_BYTES_MAX) return undefined;
  const bytes = await registry.blob(envelope.digest, ENVELOPE_BYTES_MAX);
  if (bytes === 'too_long' || bytes?.length !== envelope.size) return undefined;
  const type = attached.artifactType ?? attached.config?.mediaType ?? '';
  return { type, attachment: { mediaType: envelope.mediaType, bytes } };
}
