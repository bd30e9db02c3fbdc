import { secondsAfter } from '../platform/clock.ts';
import { presignPut } from '../storage/object-store.ts';
import { objectKeyOf, provenanceKeyOf, signatureKeyOf } from '../storage/repository.ts';

/** The file somebody is about to upload. */
type FileToCome = Parameters<typeof objectKeyOf>[0] & { digest?: string };

export interface Uploads {
  /** Addresses, each good for one object and whoever has it. */
  secrets: { upload_path: string; signature_upload_path: string; provenance_upload_path: string };
  /** What the upload of the file must carry, word for word: where its digest is known, nothing else can be uploaded. */
  upload_headers: Record<string, string>;
  upload_method: 'PUT';
  /** When the addresses stop to work. */
  upload_expires_at: string;
}

/** Where the file, its signature and its provenance are uploaded: straight to the object store. */
export async function uploadsFor(file: FileToCome, seconds: number, now: Date): Promise<Uploads> {
  const key = objectKeyOf(file);
  const [upload, signature, provenance] = await Promise.all([
    presignPut(key, { seconds, now, ...(file.digest !== undefined && { digest: file.digest }) }),
    presignPut(signatureKeyOf(key), { seconds, now }),
    presignPut(provenanceKeyOf(key), { seconds, now }),
  ]);
  return {
    secrets: {
      upload_path: upload.url,
      signature_upload_path: signature.url,
      provenance_upload_path: provenance.url,
    },
    upload_headers: upload.headers,
    upload_method: 'PUT',
    upload_expires_at: secondsAfter(now, seconds).toISOString(),
  };
}
