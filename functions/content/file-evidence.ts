import type { ObjectVersion } from './stored-content.ts';
import { chooseVersions } from './file.ts';
import { headObject, listObjectVersions, readObject } from '../storage/object-store.ts';
import { provenanceKeyOf, signatureKeyOf } from '../storage/repository.ts';
import type { Attachment, Evidence } from '../trust/verification.ts';

/** A chain of certificates and some statements fit in well. */
const ATTACHMENT_BYTES_MAX = 1024 * 1024;

const SIGNATURE_TYPE = 'application/jose+json';
const PROVENANCE_TYPE = 'application/vnd.dsse.envelope.v1+json';

/** The signatures and provenance next to a file, of any upload. The artifact is bound to one version of the file. */
export async function findFileEvidence({
  id,
  object,
}: {
  id: string;
  object?: ObjectVersion;
}): Promise<Evidence> {
  if (object === undefined) throw new Error(`The artifact ${id} is a file without an object.`);
  const { key, version_id } = object;
  const pinned = await headObject(key, version_id);
  if (pinned === undefined) return { signatures: [], provenances: [], isContentAbsent: true };
  const [signatures, provenances] = await Promise.all([
    findAttachments(signatureKeyOf(key), SIGNATURE_TYPE, pinned.storedAt),
    findAttachments(provenanceKeyOf(key), PROVENANCE_TYPE, pinned.storedAt),
  ]);
  return { signatures, provenances };
}

/** The next build is uploaded under the same names: it must not replace the evidence of this one. */
async function findAttachments(key: string, mediaType: string, storedAt: Date): Promise<Attachment[]> {
  const { files } = await listObjectVersions(key);
  const versions = chooseVersions(
    files.filter((file) => file.key === key && file.sizeBytes > 0),
    storedAt,
  );
  const found = await Promise.all(
    versions.map(({ versionId }) => readObject(key, ATTACHMENT_BYTES_MAX, versionId)),
  );
  return found.flatMap((bytes) => (bytes === undefined ? [] : [{ mediaType, bytes }]));
}
