// What came of looking at an artifact's signature and provenance.

import * as v from 'valibot';

/** Every reason not to trust, in the order they are looked for. Part of the API: callers match on it. */
export const TRUST_FAULTS = [
  'policy.none',
  'content.absent',
  'signature.none',
  'signature.format',
  'signature.malformed',
  'chain.malformed',
  'signature.algorithm',
  'signature.content_type',
  'signature.scheme',
  'signature.critical',
  'signature.bytes',
  'chain.untrusted',
  'chain.usage',
  'signature.time',
  'chain.validity',
  'signature.expired',
  'chain.revoked',
  'signature.target',
  'identity.not_accepted',
  'provenance.none',
  'provenance.malformed',
  'provenance.signature',
  'provenance.subject',
  'provenance.builder',
  'provenance.build_type',
  'provenance.source',
  'provenance.parameters',
] as const;
export type TrustFault = (typeof TRUST_FAULTS)[number];

const Signer = v.object({
  /** RFC 4514: `CN=release,O=Example,C=US`. */
  subject: v.string(),
  issuer: v.string(),
  serial_number: v.string(),
  /** SHA-256 over the leaf certificate, in hexadecimal digits: what is revoked is named by it. */
  fingerprint: v.string(),
  not_after: v.string(),
});

export const Provenance = v.object({
  builder_id: v.string(),
  build_type: v.string(),
  source_repository: v.string(),
});
export type Provenance = v.InferOutput<typeof Provenance>;

export const Verification = v.object({
  verdict: v.picklist(['verified', 'refused']),
  at: v.string(),
  /** Which state of policies and revocations it was judged by. */
  trust_revision: v.number(),
  policy: v.optional(v.object({ name: v.string(), version: v.number() })),
  signer: v.optional(Signer),
  signed_at: v.optional(v.string()),
  /** When the signature or a certificate of its chain expires: then it is to be judged again at the latest. */
  valid_until: v.optional(v.string()),
  provenance: v.optional(Provenance),
  fault: v.optional(v.object({ code: v.picklist(TRUST_FAULTS), detail: v.string() })),
});
export type Verification = v.InferOutput<typeof Verification>;

/** What a signature is about, as OCI describes content. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** A signature or a statement as it was found: what it says it is, and its bytes. */
export interface Attachment {
  mediaType: string;
  bytes: Uint8Array;
}

/** What was found beside an artifact to prove where it comes from. */
export interface Evidence {
  signatures: Attachment[];
  provenances: Attachment[];
  /** The artifact itself is not where it was registered. */
  isContentAbsent?: boolean;
}
