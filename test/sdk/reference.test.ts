import { describe, expect, test } from 'vitest';
import { judgeTrust } from '../../functions/trust/trust.ts';
import { KEY_TYPES, type Algorithm } from '../../sdk/signing/algorithms.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { inspectEnvelope, type InspectedSignature } from '../../sdk/signing/inspect-envelope.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import REFERENCE from './reference-envelopes.json' with { type: 'json' };

// Envelopes that notation-core-go 1.0.0, the library in `notation`, made with keys and certificates of this library.

const SIGNED_AT = new Date('2026-11-16T12:00:00Z');
const EXPIRES_AT = new Date('2031-11-16T12:00:00Z');
const NOW = new Date('2026-11-16T13:00:00Z');
const target = {
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  digest: 'sha256:73c803930ea3ba1e54bc25c2bdc53edd0284c62ed651fe7b00369da519a3c333',
  size: 16724,
};

function judge(envelope: string, root: string) {
  const policy = {
    name: 'reference',
    description: '',
    repository_pattern: 'gpuaas/apps/example/*',
    roots: [root],
    identities: ['O=Example'],
    provenance: { required: false, builders: [], source_repositories: [] },
    version: 1,
    created_at: '',
    updated_at: '',
    updated_by: '',
  };
  const signature = { mediaType: 'application/jose+json', bytes: Buffer.from(envelope) };
  return judgeTrust({
    descriptor: target,
    repository: 'gpuaas/apps/example/chat',
    evidence: { signatures: [signature], provenances: [] },
    trust: { revision: 1, policies: [policy], revoked: [] },
    now: NOW,
  });
}

describe.each(KEY_TYPES)('what the reference implementation signed with a %s key', (keyType) => {
  const { envelope, root } = REFERENCE[keyType];

  test('is read here, and trusted by the platform', () => {
    expect(inspectEnvelope(Buffer.from(envelope))).toMatchObject({
      target,
      signature_fits: true,
      signed_at: '2026-11-16T12:00:00Z',
    });
    expect(judge(envelope, root)).toMatchObject({ verdict: 'verified' });
  });

  test('is not trusted under another root', () => {
    const { rootPem } = createDevelopmentChain({ organisation: 'Example' });
    expect(judge(envelope, rootPem)).toMatchObject({ fault: { code: 'chain.untrusted' } });
  });

  test('has the same protected header, to the byte, and says the same', async () => {
    const { algorithm } = inspectEnvelope(Buffer.from(envelope)) as InspectedSignature;
    // What is compared does not depend on the signature.
    const signer = { algorithm: algorithm as Algorithm, chain: [], sign: async () => new Uint8Array() };
    const ours = await signDescriptor(target, signer, { signedAt: SIGNED_AT, expiresAt: EXPIRES_AT });
    const [their, our] = [envelope, ours.toString('utf8')].map(
      (text) => JSON.parse(text) as { protected: string; payload: string },
    );
    expect(our?.protected).toBe(their?.protected);
    const payloads = [their, our].map(
      (each) => JSON.parse(Buffer.from(each?.payload ?? '', 'base64url').toString('utf8')) as unknown,
    );
    expect(payloads[1]).toEqual(payloads[0]);
  });
});
