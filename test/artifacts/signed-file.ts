import { hash } from 'node:crypto';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { trustPolicyKey } from '../../functions/artifacts/keys.ts';
import { NAMESPACE } from '../../functions/storage/repository.ts';
import type { TrustPolicy } from '../../functions/trust/trust-policy.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { keySigner } from '../../sdk/signing/signer.ts';

const chain = createDevelopmentChain({ organisation: 'Example' });
const signer = keySigner(chain);

/** Trusts what is signed here, in every repository that no other policy is about. */
export function policyOfTests(now: Date): TrustPolicy & { pk: string; sk: string } {
  const name = 'tests';
  return {
    ...trustPolicyKey(name),
    name,
    description: 'Trusts what the tests sign.',
    repository_pattern: `${NAMESPACE}/*`,
    roots: [chain.rootPem],
    identities: ['O=Example'],
    provenance: { required: false, builders: [], source_repositories: [] },
    version: 1,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
    updated_by: 'user:somebody',
  };
}

/** An envelope over a file. */
export function signFile(content: string, now: Date): Promise<Buffer> {
  const bytes = Buffer.from(content);
  const descriptor = {
    mediaType: 'application/octet-stream',
    digest: `sha256:${hash('sha256', bytes)}`,
    size: bytes.length,
  };
  return signDescriptor(descriptor, signer, { signedAt: now });
}

/** What a call says to register a file. */
export function registrationOf(
  file: Pick<
    Artifact,
    | 'app_slug'
    | 'app_version'
    | 'artifact_name'
    | 'variant'
    | 'artifact_kind'
    | 'source_type'
    | 'source_uri'
    | 'digest'
  >,
) {
  const { app_slug, app_version, artifact_name, variant, artifact_kind, source_type, source_uri, digest } =
    file;
  return {
    app_slug,
    app_version,
    artifact_name,
    ...(variant !== undefined && { variant }),
    artifact_kind,
    source_type,
    source_uri,
    digest,
  };
}
