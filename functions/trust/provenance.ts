// Where an artifact was built and from what: an in-toto statement (v1) with SLSA provenance (v1) in a DSSE envelope.
// What a builder says counts only of builds the policy names. Nothing here knows AWS.

import * as v from 'valibot';
import { Unreadable } from './der.ts';
import { distrust, oneOf, reading } from './distrust.ts';
import { isDsseSignature, type PublicKey } from './public-key.ts';
import { JSON_BYTES_MAX, plain, readBase64, readJson } from './strict-json.ts';
import { type Builder, readBuilderKey, type TrustPolicy } from './trust-policy.ts';
import type { Attachment, Descriptor, Provenance } from './verification.ts';

const DSSE_TYPE = 'application/vnd.dsse.envelope.v1+json';
const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
const PREDICATE_TYPE = 'https://slsa.dev/provenance/v1';

const SIGNATURES_MAX = 10;

const Text = v.pipe(v.string(), v.maxLength(JSON_BYTES_MAX));

const Dsse = plain(
  v.strictObject({
    payload: Text,
    payloadType: v.string(),
    signatures: v.pipe(
      v.array(plain(v.strictObject({ keyid: v.string(), sig: Text }))),
      v.minLength(1),
      v.maxLength(SIGNATURES_MAX),
    ),
  }),
);

const open = <E extends v.ObjectEntries>(entries: E) => plain(v.looseObject(entries));

const Statement = open({
  _type: v.literal(STATEMENT_TYPE),
  subject: v.array(open({ digest: plain(v.record(v.string(), v.string())) })),
  predicateType: v.literal(PREDICATE_TYPE),
  predicate: open({
    buildDefinition: open({
      buildType: v.string(),
      externalParameters: plain(v.record(v.string(), v.unknown())),
    }),
    runDetails: open({ builder: open({ id: v.string() }) }),
  }),
});

/** What a statement says of where the artifact was built, once every rule of the policy holds. */
export function judgeProvenance(
  { mediaType, bytes }: Attachment,
  { digest }: Descriptor,
  { builders, source_repositories }: TrustPolicy['provenance'],
): Provenance {
  if (mediaType !== DSSE_TYPE)
    throw distrust('provenance.malformed', `Expected a statement of type ${DSSE_TYPE}.`);
  const { payload, signedBy } = openEnvelope(bytes, builders);
  const { subject, predicate } = reading('provenance.malformed', () => {
    const result = v.safeParse(Statement, readJson(payload), { abortEarly: true });
    if (!result.success)
      throw new Unreadable(`expected an in-toto statement (${STATEMENT_TYPE}) with ${PREDICATE_TYPE}`);
    return result.output;
  });
  if (!subject.some((each) => `sha256:${each.digest['sha256']}` === digest))
    throw distrust('provenance.subject', `Expected a statement about ${digest}.`);
  const { buildType, externalParameters } = predicate.buildDefinition;
  const builder = signedBy.find(({ builder_id }) => builder_id === predicate.runDetails.builder.id);
  if (!builder)
    throw distrust(
      'provenance.builder',
      'Expected a builder named by the policy, with a signature by its own key.',
    );
  if (!builder.build_types.includes(buildType))
    throw distrust('provenance.build_type', `Expected the build type to be ${oneOf(builder.build_types)}.`);
  const source = sourceOf(externalParameters[builder.source_parameter]);
  if (source === undefined || !source_repositories.some((pattern) => isSource(source, pattern)))
    throw distrust(
      'provenance.source',
      `Expected ${builder.source_parameter} to name ${oneOf(source_repositories)}.`,
    );
  requireParameters(externalParameters, builder);
  return { builder_id: builder.builder_id, build_type: buildType, source_repository: source };
}

/** Whose signature is on it decides who may have said it: the builders with that key. */
function openEnvelope(bytes: Uint8Array, builders: Builder[]): { payload: Buffer; signedBy: Builder[] } {
  const { payload, payloadType, signatures } = reading('provenance.malformed', () => {
    const result = v.safeParse(Dsse, readJson(bytes), { abortEarly: true });
    if (!result.success) throw new Unreadable('expected a DSSE envelope of payload, payloadType, signatures');
    const { payload, payloadType, signatures } = result.output;
    return {
      payloadType,
      payload: readBase64(payload, 'base64'),
      signatures: signatures.map(({ keyid, sig }) => ({ keyid, sig: readBase64(sig, 'base64') })),
    };
  });
  if (payloadType !== PAYLOAD_TYPE)
    throw distrust('provenance.malformed', `Expected a payload of type ${PAYLOAD_TYPE}.`);
  const signed = preAuthentication(payloadType, payload);
  const isSigner = (key: PublicKey): boolean =>
    signatures.some(({ keyid, sig }) => keyid === key.fingerprint && isDsseSignature(key, signed, sig));
  const signedBy = builders.filter(({ public_keys }) => public_keys.map(readBuilderKey).some(isSigner));
  if (signedBy.length === 0)
    throw distrust(
      'provenance.signature',
      'Expected a signature by a key of one of the builders, identified by keyid.',
    );
  return { payload, signedBy };
}

/** DSSE protocol, "PAE": the type is signed along with the bytes, each behind its length. */
function preAuthentication(type: string, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload]);
}

function sourceOf(parameter: unknown): string | undefined {
  if (typeof parameter === 'string') return parameter;
  const isNamed = typeof parameter === 'object' && parameter !== null && 'uri' in parameter;
  return isNamed && typeof parameter.uri === 'string' ? parameter.uri : undefined;
}

/** Exactly what the pattern says, or anything plain after it where it ends in a star. */
export function isSource(source: string, pattern: string): boolean {
  if (!pattern.endsWith('*')) return source === pattern;
  const prefix = pattern.slice(0, -1);
  const rest = source.slice(prefix.length);
  // A path that begins with the pattern must not leave it again with `..`.
  const isPlain = /^[\w.~:/@#+=-]+$/.test(rest) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(rest);
  return source.startsWith(prefix) && isPlain;
}

/** SLSA, "Verifying artifacts", step 2: an unexpected external parameter may have changed the build. */
function requireParameters(parameters: Record<string, unknown>, builder: Builder): void {
  const expected = [...new Set([builder.source_parameter, ...builder.external_parameters])];
  if (Object.keys(parameters).some((name) => !expected.includes(name)))
    throw distrust('provenance.parameters', `Expected every external parameter to be ${oneOf(expected)}.`);
}
