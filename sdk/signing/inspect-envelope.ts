// What an envelope says of itself, and whether its signature fits its first certificate. Whether to trust that
// certificate is for a trust policy to say, not for this.

import { verify, X509Certificate, type KeyObject } from 'node:crypto';
import { algorithmOf, hashOf } from './algorithms.ts';
import type { Descriptor } from './notation.ts';
import { paddingOf } from './signer.ts';
import { SigningError } from './signing-error.ts';

export interface InspectedSignature {
  kind: 'signature';
  target: Descriptor;
  algorithm: string;
  signed_at: string;
  expires_at?: string;
  agent?: string;
  /** Whether the signature is one of the first certificate's key over exactly this. */
  signature_fits: boolean;
  certificates: { subject: string; not_after: string; fingerprint: string }[];
}

export interface InspectedProvenance {
  kind: 'provenance';
  subjects: { name?: string; digest: Record<string, string> }[];
  builder_id?: string;
  build_type?: string;
  external_parameters?: Record<string, unknown>;
  key_ids: string[];
}

export function inspectEnvelope(bytes: Buffer): InspectedSignature | InspectedProvenance {
  try {
    const envelope = JSON.parse(bytes.toString('utf8')) as JwsEnvelope | DsseEnvelope;
    return 'payloadType' in envelope ? inspectProvenance(envelope) : inspectSignature(envelope);
  } catch {
    throw new SigningError(
      'failed',
      'This is neither a Notary Project signature in JWS format nor a DSSE envelope.',
      'Give a file that “gpuaas artifact sign --output” wrote; COSE envelopes are not supported.',
    );
  }
}

interface JwsEnvelope {
  payload: string;
  protected: string;
  header: { x5c: string[]; 'io.cncf.notary.signingAgent'?: string };
  signature: string;
}

function inspectSignature(envelope: JwsEnvelope): InspectedSignature {
  const header = readJson<Record<string, string>>(envelope.protected);
  const { targetArtifact } = readJson<{ targetArtifact: Descriptor }>(envelope.payload);
  const chain = envelope.header.x5c.map((der) => new X509Certificate(Buffer.from(der, 'base64')));
  const expiresAt = header['io.cncf.notary.expiry'];
  const agent = envelope.header['io.cncf.notary.signingAgent'];
  return {
    kind: 'signature',
    target: targetArtifact,
    algorithm: header['alg'] ?? '',
    signed_at: header['io.cncf.notary.signingTime'] ?? '',
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(agent !== undefined && { agent }),
    signature_fits: chain[0] !== undefined && fits(envelope, chain[0].publicKey),
    certificates: chain.map(({ subject, validToDate, fingerprint256 }) => ({
      subject: subject.split('\n').toReversed().join(','),
      not_after: validToDate.toISOString(),
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    })),
  };
}

function fits({ payload, protected: header, signature }: JwsEnvelope, key: KeyObject): boolean {
  const algorithm = algorithmOf(key);
  if (readJson<{ alg: string }>(header).alg !== algorithm) return false;
  return verify(
    hashOf(algorithm),
    Buffer.from(`${header}.${payload}`),
    { key, dsaEncoding: 'ieee-p1363', ...paddingOf(algorithm) },
    Buffer.from(signature, 'base64url'),
  );
}

const readJson = <T>(base64: string): T => JSON.parse(Buffer.from(base64, 'base64').toString('utf8')) as T;

export interface DsseEnvelope {
  payloadType: string;
  payload: string;
  signatures: { keyid?: string; sig: string }[];
}

function inspectProvenance({ payload, signatures }: DsseEnvelope): InspectedProvenance {
  const { subject, predicate } = readJson<{
    subject: InspectedProvenance['subjects'];
    predicate: {
      buildDefinition?: { buildType?: string; externalParameters?: Record<string, unknown> };
      runDetails?: { builder?: { id?: string } };
    };
  }>(payload);
  return {
    kind: 'provenance',
    subjects: subject,
    builder_id: predicate.runDetails?.builder?.id,
    build_type: predicate.buildDefinition?.buildType,
    external_parameters: predicate.buildDefinition?.externalParameters,
    key_ids: signatures.map(({ keyid = '' }) => keyid),
  };
}
