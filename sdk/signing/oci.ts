// What is pushed beside an image to say something about it: OCI image specification 1.1, and the manifest of a
// signature as the Notary Project wants it.

import { createHash, X509Certificate } from 'node:crypto';
import { ENVELOPE_TYPE, SIGNATURE_TYPE, type Descriptor } from './notation.ts';
import { DSSE_TYPE, PREDICATE_TYPE, STATEMENT_TYPE } from './provenance.ts';

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';
/** The content of an empty config, image-spec manifest.md "Guidance for an Empty Descriptor". */
export const EMPTY = Buffer.from('{}');

/** A manifest that is about another one, as an index lists it. */
export interface Referrer extends Descriptor {
  artifactType: string;
}

export interface ReferrersIndex {
  schemaVersion: 2;
  mediaType: typeof INDEX_TYPE;
  manifests: Referrer[];
}

export const digestOf = (bytes: Uint8Array): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export const descriptorOf = (mediaType: string, bytes: Uint8Array): Descriptor => ({
  mediaType,
  digest: digestOf(bytes),
  size: bytes.length,
});

/** A manifest in its bytes, and as an index lists it. */
export interface ReferrerManifest {
  bytes: Buffer;
  referrer: Referrer;
}

export function signatureManifest(subject: Descriptor, envelope: Uint8Array, createdAt: Date) {
  return manifestAbout(subject, SIGNATURE_TYPE, descriptorOf(ENVELOPE_TYPE, envelope), {
    'io.cncf.notary.x509chain.thumbprint#S256': JSON.stringify(thumbprintsOf(envelope)),
    'org.opencontainers.image.created': createdAt.toISOString(),
  });
}

export function provenanceManifest(subject: Descriptor, envelope: Uint8Array, createdAt: Date) {
  return manifestAbout(subject, STATEMENT_TYPE, descriptorOf(DSSE_TYPE, envelope), {
    'in-toto.io/predicate-type': PREDICATE_TYPE,
    'org.opencontainers.image.created': createdAt.toISOString(),
  });
}

function manifestAbout(
  { mediaType, digest, size }: Descriptor,
  artifactType: string,
  layer: Descriptor,
  annotations: Record<string, string>,
): ReferrerManifest {
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    artifactType,
    config: descriptorOf(EMPTY_TYPE, EMPTY),
    layers: [layer],
    subject: { mediaType, digest, size },
    annotations,
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  return { bytes, referrer: { ...descriptorOf(MANIFEST_TYPE, bytes), artifactType, annotations } };
}

/** SHA-256 over each certificate of the chain, in its order. */
function thumbprintsOf(envelope: Uint8Array): string[] {
  const { header } = JSON.parse(Buffer.from(envelope).toString('utf8')) as { header: { x5c: string[] } };
  return header.x5c.map((certificate) => {
    const { fingerprint256 } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return fingerprint256.replaceAll(':', '').toLowerCase();
  });
}

/** Where a registry without the referrers API keeps the list: distribution-spec, "Referrers Tag Schema". */
export const referrersTag = (digest: string): string => digest.replace(':', '-');

export const indexOf = (manifests: Referrer[]): Buffer =>
  Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests } satisfies ReferrersIndex),
  );
