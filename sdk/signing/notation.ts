// Signatures of the Notary Project: signature-specification.md and signature-envelope-jws.md, version 1.1.

import type { Signer } from './signer.ts';

/** What is signed, as OCI describes content. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

export const SIGNATURE_TYPE = 'application/vnd.cncf.notary.signature';
export const ENVELOPE_TYPE = 'application/jose+json';
export const PAYLOAD_TYPE = 'application/vnd.cncf.notary.payload.v1+json';
/** What made the signature; nobody checks it. */
const AGENT = 'gpuaas/0.1.0';

export interface SigningOptions {
  signedAt: Date;
  /** Until when the signature counts. */
  expiresAt?: Date;
  agent?: string;
}

/** The bytes of an envelope: a flattened JWS (RFC 7515 7.2.2) over a descriptor. */
export async function signDescriptor(
  descriptor: Descriptor,
  signer: Signer,
  { signedAt, expiresAt, agent = AGENT }: SigningOptions,
): Promise<Buffer> {
  const { mediaType, digest, size, annotations } = descriptor;
  const targetArtifact = { mediaType, digest, size, ...(annotations && { annotations }) };
  const payload = encodeJson({ targetArtifact });
  const protectedHeader = encodeJson(headerOf(signer, signedAt, expiresAt));
  const signature = await signer.sign(Buffer.from(`${protectedHeader}.${payload}`, 'ascii'));
  const envelope = {
    payload,
    protected: protectedHeader,
    header: {
      x5c: signer.chain.map((certificate) => certificate.toString('base64')),
      'io.cncf.notary.signingAgent': agent,
    },
    signature: Buffer.from(signature).toString('base64url'),
  };
  return Buffer.from(JSON.stringify(envelope));
}

/** In the order of the alphabet, as the reference implementation writes it: the same facts are the same bytes. */
function headerOf({ algorithm }: Signer, signedAt: Date, expiresAt?: Date): Record<string, unknown> {
  return {
    alg: algorithm,
    crit: ['io.cncf.notary.signingScheme', ...(expiresAt ? ['io.cncf.notary.expiry'] : [])],
    cty: PAYLOAD_TYPE,
    ...(expiresAt && { 'io.cncf.notary.expiry': wholeSeconds(expiresAt) }),
    'io.cncf.notary.signingScheme': 'notary.x509',
    'io.cncf.notary.signingTime': wholeSeconds(signedAt),
  };
}

/** RFC 3339 without a fraction of a second, as the specification advises. */
const wholeSeconds = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');

const encodeJson = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
