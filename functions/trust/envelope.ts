// A signature as the Notary Project writes it: JWS (RFC 7515) in flattened JSON. Which algorithm, which scheme and which
// members count is decided here and by the signer's key, never by what the envelope asks for. Nothing here knows AWS.

import * as v from 'valibot';
import { type Certificate, readCertificate } from './certificate.ts';
import { Unreadable } from './der.ts';
import { distrust, reading } from './distrust.ts';
import { isJwsSignature, type PublicKey } from './public-key.ts';
import { JSON_BYTES_MAX, plain, readBase64, readJson } from './strict-json.ts';
import type { Attachment, Descriptor } from './verification.ts';

const ENVELOPE_TYPE = 'application/jose+json';
const PAYLOAD_TYPE = 'application/vnd.cncf.notary.payload.v1+json';
const SCHEME = 'notary.x509';

const SIGNING_SCHEME = 'io.cncf.notary.signingScheme';
const SIGNING_TIME = 'io.cncf.notary.signingTime';
const EXPIRY = 'io.cncf.notary.expiry';

const CHAIN_MAX = 10;

const Text = v.pipe(v.string(), v.maxLength(JSON_BYTES_MAX));

const Outside = plain(
  v.strictObject({
    payload: Text,
    protected: Text,
    header: plain(
      v.strictObject({
        x5c: v.array(Text),
        // These two are not signed, so they are ignored.
        'io.cncf.notary.signingAgent': v.optional(v.string()),
        'io.cncf.notary.timestampSignature': v.optional(v.string()),
      }),
    ),
    signature: Text,
  }),
);

const PROTECTED = {
  alg: v.optional(v.string()),
  cty: v.optional(v.string()),
  crit: v.optional(v.array(v.string())),
  [SIGNING_SCHEME]: v.optional(v.string()),
  [SIGNING_TIME]: v.optional(v.string()),
  [EXPIRY]: v.optional(v.string()),
};
const UNDERSTOOD = Object.keys(PROTECTED);

const Protected = plain(v.looseObject(PROTECTED));
type Protected = v.InferOutput<typeof Protected>;

const Payload = plain(
  v.strictObject({
    targetArtifact: plain(
      v.strictObject({
        mediaType: v.string(),
        digest: v.string(),
        size: v.number(),
        artifactType: v.optional(v.string()),
        annotations: v.optional(plain(v.record(v.string(), v.string()))),
      }),
    ),
  }),
);

export interface Envelope {
  header: Protected;
  /** The signer's own first. */
  chain: Buffer[];
  payload: Buffer;
  signingInput: Buffer;
  signature: Buffer;
}

export function readEnvelope({ mediaType, bytes }: Attachment): Envelope {
  if (mediaType !== ENVELOPE_TYPE)
    throw distrust('signature.format', `Expected a signature of type ${ENVELOPE_TYPE}.`);
  return reading('signature.malformed', () => {
    const outside = shaped(Outside, readJson(bytes), 'an envelope of payload, protected, header, signature');
    const header = shaped(
      Protected,
      readJson(readBase64(outside.protected, 'base64url')),
      'a protected header',
    );
    return {
      header,
      chain: outside.header.x5c.map((certificate) => readBase64(certificate, 'base64')),
      payload: readBase64(outside.payload, 'base64url'),
      signingInput: Buffer.from(`${outside.protected}.${outside.payload}`, 'ascii'),
      signature: readBase64(outside.signature, 'base64url'),
    };
  });
}

/** The certificates of the envelope, parsed; the chain is checked later. */
export function readChain({ chain }: Envelope): [Certificate, ...Certificate[]] {
  return reading('chain.malformed', () => {
    const [leaf, ...others] = chain;
    if (!leaf || chain.length > CHAIN_MAX)
      throw new Unreadable(`expected between 1 and ${CHAIN_MAX} certificates`);
    if (chain.some((one, index) => chain.slice(0, index).some((other) => other.equals(one))))
      throw new Unreadable('expected each certificate only once');
    return [readCertificate(leaf), ...others.map(readCertificate)];
  });
}

/** What stands in the protected header, checked before the signature over it, as it says how that is to be read. */
export function requireHeader({ header }: Envelope, key: PublicKey): void {
  const { alg, cty, crit } = header;
  if (!key.signing || alg !== key.signing.algorithm) {
    const expected = key.signing?.algorithm ?? 'a key of P-256, P-384, P-521, RSA-2048, RSA-3072 or RSA-4096';
    throw distrust('signature.algorithm', `Expected ${expected}, because the signer's key is ${key.kind}.`);
  }
  if (cty !== PAYLOAD_TYPE)
    throw distrust('signature.content_type', `Expected a payload of type ${PAYLOAD_TYPE}.`);
  if (header[SIGNING_SCHEME] !== SCHEME)
    throw distrust('signature.scheme', `Expected the signing scheme ${SCHEME}.`);
  const critical = [SIGNING_SCHEME, ...(header[EXPIRY] === undefined ? [] : [EXPIRY])];
  const isUnderstood = Object.keys(header).every((name) => UNDERSTOOD.includes(name));
  if (!isUnderstood || crit?.toSorted().join() !== critical.toSorted().join())
    throw distrust(
      'signature.critical',
      `Expected only ${UNDERSTOOD.join(', ')}, of which exactly ${critical.join(' and ')} critical.`,
    );
}

export function requireSignature({ signingInput, signature }: Envelope, key: PublicKey): void {
  if (!isJwsSignature(key, signingInput, signature))
    throw distrust(
      'signature.bytes',
      "Expected a signature made with the key of the chain's first certificate.",
    );
}

/** When it says it was signed, and until when it is to count. */
export function readTimes({ header }: Envelope): { signedAt: Date; expiresAt?: Date } {
  const signedAt = timeOf(header[SIGNING_TIME]);
  const expiry = header[EXPIRY];
  const expiresAt = timeOf(expiry);
  if (!signedAt || (expiry !== undefined && !expiresAt))
    throw distrust(
      'signature.time',
      'Expected the signing time, and the expiry if present, in RFC 3339 format.',
    );
  return { signedAt, ...(expiresAt && { expiresAt }) };
}

/** Read only once the signature is known to be good. */
export function requireTarget({ payload }: Envelope, { mediaType, digest, size }: Descriptor): void {
  const { targetArtifact } = reading('signature.target', () =>
    shaped(Payload, readJson(payload), 'a payload with a targetArtifact'),
  );
  const isSame =
    targetArtifact.digest === digest &&
    targetArtifact.size === size &&
    targetArtifact.mediaType === mediaType;
  if (!isSame)
    throw distrust('signature.target', `Expected a signature over ${digest}, ${size} bytes of ${mediaType}.`);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined || !TIME.test(text)) return undefined;
  const time = new Date(text);
  // A day the month does not have would otherwise pass for one of the next.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return Number.isNaN(time.getTime()) || !isDay ? undefined : time;
}

function shaped<T>(schema: v.GenericSchema<unknown, T>, value: unknown, what: string): T {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (!result.success) throw new Unreadable(`expected ${what} and no other members`);
  return result.output;
}
