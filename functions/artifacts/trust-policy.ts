// Who may sign which repository, and where what they sign must have been built. Rules only; nothing here knows AWS.

import * as v from 'valibot';

/** Whose builds count: the builder by its name and its keys, how it builds, and what a build may be told. */
export const Builder = v.object({
  builder_id: v.string(),
  build_types: v.array(v.string()),
  /** Public keys in PEM; a statement is signed by one of them. */
  public_keys: v.array(v.string()),
  /** The external parameters a build may have; one with any other is refused. */
  external_parameters: v.array(v.string()),
  /** Which of them says where the source is. */
  source_parameter: v.string(),
});
export type Builder = v.InferOutput<typeof Builder>;

export const TrustPolicy = v.object({
  name: v.string(),
  description: v.string(),
  /** A repository, or all below a path: `gpuaas/apps/example/*`. The most specific one counts. */
  repository_pattern: v.string(),
  /** Certificates in PEM; a signature's chain must end at one of them. */
  roots: v.array(v.string()),
  /** Subjects accepted, of which a signer's must have every part: `O=Example,CN=release`. */
  identities: v.array(v.string()),
  provenance: v.object({
    required: v.boolean(),
    builders: v.array(Builder),
    /** Where the source may be; `*` at the end stands for anything. */
    source_repositories: v.array(v.string()),
  }),
  version: v.number(),
  created_at: v.string(),
  updated_at: v.string(),
  updated_by: v.string(),
});
export type TrustPolicy = v.InferOutput<typeof TrustPolicy>;

export const RevokedCertificate = v.object({
  /** SHA-256 over the certificate, in hexadecimal digits. */
  fingerprint: v.string(),
  reason: v.string(),
  revoked_at: v.string(),
  revoked_by: v.string(),
});
export type RevokedCertificate = v.InferOutput<typeof RevokedCertificate>;

/** Everything trust is judged by, as it was at one number. */
export interface Trust {
  revision: number;
  policies: TrustPolicy[];
  revoked: RevokedCertificate[];
}
