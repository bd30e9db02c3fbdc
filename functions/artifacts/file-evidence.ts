import type { Artifact } from './artifact.ts';
import { headObject, readObject } from './object-store.ts';
import { provenanceKeyOf, signatureKeyOf } from './repository.ts';
import type { Attachment, Evidence } from './verification.ts';

/** A chain of certificates and some statements fit in well. */
const ATTACHMENT_BYTES_MAX = 1024 * 1024;

const SIGNATURE_TYPE = 'application/jose+json';
const PROVENANCE_TYPE = 'application/vnd.dsse.envelope.v1+json';

/** What lies beside a file. Its signature may be replaced, by a newer one; the file itself is this version for ever. */
export async function findFileEvidence({ id, object }: Artifact): Promise<Evidence> {
  if (object === undefined) throw new Error(`The artifact ${id} is a file and names no object.`);
  const { key, version_id } = object;
  const [pinned, signatures, provenances] = await Promise.all([
    headObject(key, version_id),
    findAttachments(signatureKeyOf(key), SIGNATURE_TYPE),
    findAttachments(provenanceKeyOf(key), PROVENANCE_TYPE),
  ]);
  return { signatures, provenances, ...(pinned === undefined && { isContentAbsent: true }) };
}

async function findAttachments(key: string, mediaType: string): Promise<Attachment[]> {
  const bytes = await readObject(key, ATTACHMENT_BYTES_MAX);
  return bytes === undefined ? [] : [{ mediaType, bytes }];
}
