import { execFileSync } from 'node:child_process';
import { createHash, verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flattenedVerify } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import { KEY_TYPES, type KeyType } from '../../sdk/signing/algorithms.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { inspectEnvelope } from '../../sdk/signing/inspect-envelope.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { provenanceManifest, signatureManifest } from '../../sdk/signing/oci.ts';
import { preAuthenticationEncoding, signProvenance } from '../../sdk/signing/provenance.ts';
import { keySigner, type Signer } from '../../sdk/signing/signer.ts';

const folder = mkdtempSync(join(tmpdir(), 'envelopes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DIGEST = 'sha256:73c803930ea3ba1e54bc25c2bdc53edd0284c62ed651fe7b00369da519a3c333';
const subject = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: DIGEST, size: 16724 };
const SIGNED_AT = new Date('2022-08-29T13:50:00.750Z');
const EXPIRES_AT = new Date('2099-08-30T13:50:00Z');

const signers = new Map<KeyType, Signer>();
function signerOf(keyType: KeyType): Signer {
  const made =
    signers.get(keyType) ?? keySigner(createDevelopmentChain({ organisation: 'Example', keyType }));
  signers.set(keyType, made);
  return made;
}

interface Envelope {
  payload: string;
  protected: string;
  header: { x5c: string[] } & Record<string, unknown>;
  signature: string;
}
const readEnvelope = (bytes: Buffer) => JSON.parse(bytes.toString('utf8')) as Envelope;
const decode = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');
const leafOf = ({ chain }: Signer) => new X509Certificate(chain[0] ?? '');

describe('a signature', () => {
  test.each([
    ['P-256', 'ES256', 64],
    ['P-384', 'ES384', 96],
    ['P-521', 'ES512', 132],
    ['RSA-2048', 'PS256', 256],
    ['RSA-3072', 'PS384', 384],
    ['RSA-4096', 'PS512', 512],
  ] as const)(
    'with a %s key is %s, and another implementation verifies it',
    async (keyType, algorithm, bytes) => {
      const signer = signerOf(keyType);
      const envelope = readEnvelope(await signDescriptor(subject, signer, { signedAt: SIGNED_AT }));
      const crit = { 'io.cncf.notary.signingScheme': true };
      const { header: _unprotected, ...signed } = envelope;
      const checked = await flattenedVerify(signed, leafOf(signer).publicKey, {
        crit,
        algorithms: [algorithm],
      });
      expect(checked.protectedHeader?.alg).toBe(algorithm);
      expect(Buffer.from(envelope.signature, 'base64url')).toHaveLength(bytes);
      expect(inspectEnvelope(Buffer.from(JSON.stringify(envelope)))).toMatchObject({ signature_fits: true });
    },
  );

  test('is an envelope whose every byte but the signature is known', async () => {
    const signer = signerOf('P-256');
    const options = { signedAt: SIGNED_AT, expiresAt: EXPIRES_AT, agent: 'test/1.0.0' };
    const bytes = await signDescriptor(subject, signer, options);
    const { signature } = readEnvelope(bytes);
    const certificates = signer.chain.map((der) => JSON.stringify(der.toString('base64'))).join(',');
    expect(bytes.toString('utf8')).toBe(
      '{"payload":"eyJ0YXJnZXRBcnRpZmFjdCI6eyJtZWRpYVR5cGUiOiJhcHBsaWNhdGlvbi92bmQub2NpLmltYWdlLm1hbmlmZXN0LnYx' +
        'K2pzb24iLCJkaWdlc3QiOiJzaGEyNTY6NzNjODAzOTMwZWEzYmExZTU0YmMyNWMyYmRjNTNlZGQwMjg0YzYyZWQ2NTFmZTdiMDAzNjlk' +
        'YTUxOWEzYzMzMyIsInNpemUiOjE2NzI0fX0",' +
        '"protected":"eyJhbGciOiJFUzI1NiIsImNyaXQiOlsiaW8uY25jZi5ub3Rhcnkuc2lnbmluZ1NjaGVtZSIsImlvLmNuY2Yubm90YXJ5' +
        'LmV4cGlyeSJdLCJjdHkiOiJhcHBsaWNhdGlvbi92bmQuY25jZi5ub3RhcnkucGF5bG9hZC52MStqc29uIiwiaW8uY25jZi5ub3Rhcnku' +
        'ZXhwaXJ5IjoiMjA5OS0wOC0zMFQxMzo1MDowMFoiLCJpby5jbmNmLm5vdGFyeS5zaWduaW5nU2NoZW1lIjoibm90YXJ5Lng1MDkiLCJp' +
        'by5jbmNmLm5vdGFyeS5zaWduaW5nVGltZSI6IjIwMjItMDgtMjlUMTM6NTA6MDBaIn0",' +
        `"header":{"x5c":[${certificates}],"io.cncf.notary.signingAgent":"test/1.0.0"},` +
        `"signature":"${signature}"}`,
    );
  });

  /**
   * The protected header of notation-core-go's conformance test (signature/jws/testdata/conformance.json), which has
   * the same times and, beyond ours, five attributes of its own. Without those the bytes are the same.
   */
  test('has the protected header that the reference implementation writes', async () => {
    const vector =
      'eyJhbGciOiJFUzI1NiIsImNyaXQiOlsiaW8uY25jZi5ub3Rhcnkuc2lnbmluZ1NjaGVtZSIsInNpZ25lZENyaXRLZXkxIiwiaW8uY25jZi5u' +
      'b3RhcnkuZXhwaXJ5Il0sImN0eSI6ImFwcGxpY2F0aW9uL3ZuZC5jbmNmLm5vdGFyeS5wYXlsb2FkLnYxK2pzb24iLCJpby5jbmNmLm5vdGFy' +
      'eS5leHBpcnkiOiIyMDk5LTA4LTMwVDEzOjUwOjAwWiIsImlvLmNuY2Yubm90YXJ5LnNpZ25pbmdTY2hlbWUiOiJub3RhcnkueDUwOSIsImlv' +
      'LmNuY2Yubm90YXJ5LnNpZ25pbmdUaW1lIjoiMjAyMi0wOC0yOVQxMzo1MDowMFoiLCJzaWduZWRDcml0S2V5MSI6InNpZ25lZENyaXRWYWx1' +
      'ZTEiLCJzaWduZWRLZXkxIjoic2lnbmVkVmFsdWUxIiwic2lnbmVkS2V5MiI6InNpZ25lZFZhbHVlMSIsInNpZ25lZEtleTMiOiJzaWduZWRW' +
      'YWx1ZTEiLCJzaWduZWRLZXk0Ijoic2lnbmVkVmFsdWUxIn0';
    const theirs = decode(vector)
      .replace('"signedCritKey1",', '')
      .replaceAll(/,"signed\w+":"\w+"/g, '');
    const options = { signedAt: SIGNED_AT, expiresAt: EXPIRES_AT };
    const ours = readEnvelope(await signDescriptor(subject, signerOf('P-256'), options)).protected;
    expect(decode(ours)).toBe(theirs);
  });

  test('without an end says nothing of one', async () => {
    const bytes = await signDescriptor(subject, signerOf('P-256'), { signedAt: SIGNED_AT });
    expect(JSON.parse(decode(readEnvelope(bytes).protected))).toEqual({
      alg: 'ES256',
      crit: ['io.cncf.notary.signingScheme'],
      cty: 'application/vnd.cncf.notary.payload.v1+json',
      'io.cncf.notary.signingScheme': 'notary.x509',
      'io.cncf.notary.signingTime': '2022-08-29T13:50:00Z',
    });
  });

  test('carries annotations of the artifact, and nothing else that came with the descriptor', async () => {
    const described = { ...subject, annotations: { build: '123' }, urls: ['https://elsewhere.example'] };
    const bytes = await signDescriptor(described, signerOf('P-256'), { signedAt: SIGNED_AT });
    expect(JSON.parse(decode(readEnvelope(bytes).payload))).toEqual({
      targetArtifact: { ...subject, annotations: { build: '123' } },
    });
  });

  test.each(KEY_TYPES)('with a %s key is one that openssl verifies', async (keyType) => {
    const signer = signerOf(keyType);
    const bytes = await signProvenance(
      { digest: DIGEST, builderId: 'b', buildType: 't', externalParameters: {} },
      signer,
    );
    const envelope = JSON.parse(bytes.toString('utf8')) as Dsse;
    const signed = preAuthenticationEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'));
    const key = String(leafOf(signer).publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(join(folder, 'key.pem'), key);
    writeFileSync(join(folder, 'signed'), signed);
    writeFileSync(join(folder, 'signature'), Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64'));
    const padding = signer.algorithm.startsWith('PS')
      ? ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:digest']
      : [];
    const hash = `-sha${signer.algorithm.slice(2)}`;
    const args = ['dgst', hash, ...padding, '-verify', 'key.pem', '-signature', 'signature', 'signed'];
    expect(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' })).toBe('Verified OK\n');
  });
});

interface Dsse {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

describe('a provenance', () => {
  /** The example of the DSSE protocol's own text. */
  test('is signed over type and bytes with their lengths', () => {
    const encoded = preAuthenticationEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
    expect(encoded.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  });

  test('is an in-toto statement with SLSA provenance', async () => {
    const signer = signerOf('P-256');
    const bytes = await signProvenance(
      {
        digest: DIGEST,
        name: 'gpuaas/apps/example/chat',
        builderId: 'https://ci.example.com/builder/v1',
        buildType: 'https://ci.example.com/container/v1',
        externalParameters: { source: 'https://git.example.com/chat' },
        resolvedDependencies: [{ uri: 'git+https://git.example.com/chat', digest: { gitCommit: 'ab12' } }],
        metadata: { invocationId: '7' },
      },
      signer,
    );
    const envelope = JSON.parse(bytes.toString('utf8')) as Dsse;
    expect(envelope.payloadType).toBe('application/vnd.in-toto+json');
    expect(JSON.parse(decode(envelope.payload))).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'gpuaas/apps/example/chat', digest: { sha256: DIGEST.slice(7) } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType: 'https://ci.example.com/container/v1',
          externalParameters: { source: 'https://git.example.com/chat' },
          resolvedDependencies: [{ uri: 'git+https://git.example.com/chat', digest: { gitCommit: 'ab12' } }],
        },
        runDetails: {
          builder: { id: 'https://ci.example.com/builder/v1' },
          metadata: { invocationId: '7' },
        },
      },
    });
    const key = leafOf(signer).publicKey;
    const keyId = createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex');
    expect(envelope.signatures).toEqual([{ keyid: keyId, sig: expect.any(String) }]);
    const signed = preAuthenticationEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'));
    // The default of Node's verify is DER, as the tools of DSSE write it.
    const fits = verify('sha256', signed, key, Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64'));
    expect(fits).toBe(true);
    expect(inspectEnvelope(bytes)).toMatchObject({
      kind: 'provenance',
      builder_id: 'https://ci.example.com/builder/v1',
      key_ids: [keyId],
    });
  });
});

describe('beside an image', () => {
  const at = new Date('2026-11-16T12:00:00Z');

  test('a signature is a manifest whose every byte is known', async () => {
    const signer = signerOf('P-256');
    const envelope = await signDescriptor(subject, signer, { signedAt: SIGNED_AT });
    const { bytes, referrer } = signatureManifest(subject, envelope, at);
    const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
    const thumbprints = JSON.stringify(JSON.stringify(signer.chain.map(sha256)));
    expect(bytes.toString('utf8')).toBe(
      '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",' +
        '"artifactType":"application/vnd.cncf.notary.signature",' +
        '"config":{"mediaType":"application/vnd.oci.empty.v1+json",' +
        '"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},' +
        `"layers":[{"mediaType":"application/jose+json","digest":"sha256:${sha256(envelope)}","size":${envelope.length}}],` +
        `"subject":{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"${DIGEST}","size":16724},` +
        `"annotations":{"io.cncf.notary.x509chain.thumbprint#S256":${thumbprints},` +
        '"org.opencontainers.image.created":"2026-11-16T12:00:00.000Z"}}',
    );
    expect(referrer).toMatchObject({
      artifactType: 'application/vnd.cncf.notary.signature',
      digest: `sha256:${sha256(bytes)}`,
      size: bytes.length,
    });
  });

  test('a provenance is a manifest of its own type', () => {
    const { bytes, referrer } = provenanceManifest(subject, Buffer.from('{}'), at);
    expect(referrer.artifactType).toBe('application/vnd.in-toto+json');
    expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({
      artifactType: 'application/vnd.in-toto+json',
      layers: [{ mediaType: 'application/vnd.dsse.envelope.v1+json', size: 2 }],
      subject,
    });
  });
});

describe('a signer', () => {
  const one = createDevelopmentChain({ organisation: 'One' });
  const other = createDevelopmentChain({ organisation: 'Other' });

  test.each([
    ['of another key', { keyPem: one.keyPem, chainPem: other.chainPem }, 'to another key'],
    ['with its root first', { keyPem: one.keyPem, chainPem: one.rootPem + one.chainPem }, 'to another key'],
    ['without certificates', { keyPem: one.keyPem, chainPem: 'nothing' }, 'no readable certificate'],
    [
      'with broken ones',
      { keyPem: one.keyPem, chainPem: one.chainPem.replace(/MII/, 'AAA') },
      'no readable certificate',
    ],
    ['with a certificate for a key', { keyPem: one.rootPem, chainPem: one.chainPem }, 'key cannot be read'],
  ])('%s is refused', (_name, files, told) => {
    expect(() => keySigner(files)).toThrow(told);
  });
});

test.each(['', 'null', '{}', '{"payload":"e30"}', '[]', '{"payloadType":"x","payload":"!"}', '\u00d2\u0084'])(
  'to inspect %j is refused',
  (content) => {
    expect(() => inspectEnvelope(Buffer.from(content))).toThrow('neither a Notary Project signature');
  },
);
