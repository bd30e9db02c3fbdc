// Where an artifact was built, and from what: an in-toto statement (v1) with SLSA provenance (v1) in a DSSE envelope.

import { createHash, X509Certificate } from 'node:crypto';
import { isElliptic } from './algorithms.ts';
import { integer, sequence } from './der-writer.ts';
import type { Signer } from './signer.ts';

export const STATEMENT_TYPE = 'application/vnd.in-toto+json';
export const PREDICATE_TYPE = 'https://slsa.dev/provenance/v1';
export const DSSE_TYPE = 'application/vnd.dsse.envelope.v1+json';

export interface ProvenanceRequest {
  /** `sha256:…` of what was built. */
  digest: string;
  /** What it is called: the repository, or the name of the file. */
  name?: string;
  builderId: string;
  buildType: string;
  externalParameters: Record<string, unknown>;
  internalParameters?: Record<string, unknown>;
  resolvedDependencies?: { uri?: string; digest?: Record<string, string>; name?: string }[];
  metadata?: { invocationId?: string; startedOn?: string; finishedOn?: string };
}

/** The bytes of a DSSE envelope. */
export function signProvenance(request: ProvenanceRequest, signer: Signer): Promise<Buffer> {
  const { digest, name, builderId, buildType, externalParameters } = request;
  const { internalParameters, resolvedDependencies, metadata } = request;
  const predicate = {
    buildDefinition: {
      buildType,
      externalParameters,
      ...(internalParameters && { internalParameters }),
      ...(resolvedDependencies && { resolvedDependencies }),
    },
    runDetails: { builder: { id: builderId }, ...(metadata && { metadata }) },
  };
  return signPredicate({ digest, name, predicate }, signer);
}

/** The same from a predicate as a build wrote it: what it says beyond the above stays in. */
export async function signPredicate(
  { digest, name, predicate }: { digest: string; name?: string; predicate: object },
  signer: Signer,
): Promise<Buffer> {
  const [algorithm = '', hex] = digest.split(':');
  const subject = { ...(name !== undefined && { name }), digest: { [algorithm]: hex } };
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [subject],
    predicateType: PREDICATE_TYPE,
    predicate,
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const signature = await signer.sign(preAuthenticationEncoding(STATEMENT_TYPE, payload));
  const envelope = {
    payload: payload.toString('base64'),
    payloadType: STATEMENT_TYPE,
    signatures: [
      { keyid: keyIdOf(signer), sig: Buffer.from(encodeSignature(signer, signature)).toString('base64') },
    ],
  };
  return Buffer.from(JSON.stringify(envelope));
}

/** DSSE protocol, "PAE": what is signed is the type as well as the bytes, each with its length. */
export function preAuthenticationEncoding(type: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** SHA-256 over the public key, in hexadecimal digits: a hint where to look, no proof. */
const keyIdOf = ({ chain }: Signer): string =>
  createHash('sha256')
    .update(new X509Certificate(chain[0] ?? '').publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');

/**
 * DSSE leaves the form of a signature to the key. Its tools take of a curve the DER of RFC 3279 2.2.3, not the two
 * bare numbers that JWS takes; of RSA, PSS with a salt as long as the hash. The hash is the one Notation takes for the
 * same key.
 */
function encodeSignature({ algorithm }: Signer, signature: Uint8Array): Uint8Array {
  if (!isElliptic(algorithm)) return signature;
  const half = signature.length / 2;
  return sequence(integer(signature.subarray(0, half)), integer(signature.subarray(half)));
}
