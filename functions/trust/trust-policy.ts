// Who may sign which repository, and where what they sign must have been built.

import * as v from 'valibot';
import { type InputFault } from '../platform/errors.ts';
import { event } from '../platform/events.ts';
import { Description, Slug } from '../platform/name.ts';
import { type Certificate, isIssuedBy, pemBytes, readCertificate } from './certificate.ts';
import { readDer, Unreadable } from './der.ts';
import { parseName } from './distinguished-name.ts';
import { type PublicKey, readPublicKey } from './public-key.ts';
import { refuse } from './problems.ts';

/** All of them are read to judge one signature. */
export const TRUST_POLICIES_MAX = 100;

const ROOTS_MAX = 10;
const IDENTITIES_MAX = 50;
const BUILDERS_MAX = 10;
const KEYS_MAX = 5;
const NAMES_MAX = 50;
const PEM_EXAMPLE = '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n';
const PEM_CHARACTERS_MAX = 8 * 1024;
const LINE_CHARACTERS_MAX = 500;

const line = (expected: string, shape: RegExp) =>
  v.pipe(v.string(), v.regex(shape, expected), v.maxLength(LINE_CHARACTERS_MAX));
const listOf = <S extends v.GenericSchema>(item: S, min: number, max: number) =>
  v.pipe(v.array(item), v.minLength(min), v.maxLength(max));

const shown = <S extends v.GenericSchema<unknown, string>>(example: string, schema: S) =>
  v.pipe(schema, v.examples([example]));

const Pem = v.pipe(v.string(), v.maxLength(PEM_CHARACTERS_MAX));
const Word = line('Text without spaces', /^[!-~]+$/);
const Line = line('One line of text', /^[ -~\u00a1-\uffff]+$/);

const RepositoryPattern = shown(
  'gpuaas/apps/example/*',
  line(
    'gpuaas/apps/{project_slug}/{app_slug}, gpuaas/apps/{project_slug}/*, gpuaas/apps/* or *',
    /^(?:\*|gpuaas\/apps\/(?:\*|[a-z0-9]+(?:-[a-z0-9]+)*\/(?:\*|[a-z0-9]+(?:-[a-z0-9]+)*)))$/,
  ),
);

// A star stands for the rest of a path or of a reference, never for the rest of a host or owner name.
const SourceRepository = shown(
  'git+https://code.example/team/*',
  line(
    'An address, which may end in * after /, @ or #',
    /^[a-z][a-z0-9+.-]*:\/\/[^\s*/]+(?:\/[^\s*]*|\/(?:[^\s*]*[/@#])?\*)?$/,
  ),
);

/** Whose builds count: the builder by its name and its keys, how it builds, and what a build may be told. */
const Builder = v.strictObject({
  builder_id: Word,
  build_types: listOf(Word, 1, NAMES_MAX),
  /** Public keys in PEM; a statement is signed by one of them. */
  public_keys: listOf(Pem, 1, KEYS_MAX),
  /** The external parameters a build may have; one with any other is refused. */
  external_parameters: listOf(Line, 0, NAMES_MAX),
  /** Which of them says where the source is. */
  source_parameter: Line,
});
export type Builder = v.InferOutput<typeof Builder>;

const ProvenanceRules = v.strictObject({
  required: v.boolean(),
  builders: listOf(Builder, 0, BUILDERS_MAX),
  /** Where the source may be; `*` at the end stands for anything. */
  source_repositories: listOf(SourceRepository, 0, NAMES_MAX),
});

const said = {
  /** A repository, or all below a path: `gpuaas/apps/example/*`. The most specific one counts. */
  repository_pattern: RepositoryPattern,
  /** Certificates in PEM; a signature's chain must end at one of them. */
  roots: listOf(shown(PEM_EXAMPLE, Pem), 1, ROOTS_MAX),
  /** Subjects accepted, of which a signer's must have every part: `O=Example,CN=release`. */
  identities: listOf(shown('CN=release,O=Example,C=US', Line), 1, IDENTITIES_MAX),
};

export const PutTrustPolicy = v.strictObject({
  description: v.optional(Description, ''),
  ...said,
  provenance: v.optional(ProvenanceRules, () => ({ required: false, builders: [], source_repositories: [] })),
});
export type PutTrustPolicy = v.InferOutput<typeof PutTrustPolicy>;

export const TrustPolicy = v.object({
  name: v.string(),
  description: v.string(),
  ...said,
  provenance: ProvenanceRules,
  version: v.number(),
  created_at: v.string(),
  updated_at: v.string(),
  updated_by: v.string(),
});
export type TrustPolicy = v.InferOutput<typeof TrustPolicy>;

export const TrustPolicyPage = v.object({
  items: v.array(TrustPolicy),
  next_cursor: v.nullable(v.string()),
});

export const TrustPolicyParams = v.object({ policy_name: Slug });

/** Everything trust is judged by, as it was at one number. */
export interface Trust {
  revision: number;
  policies: TrustPolicy[];
  revoked: { fingerprint: string }[];
}

/** Counts the changes, and knows what they must agree on: which policy has which pattern, how many are revoked. */
export const TrustHead = v.object({
  /** Of policies and revoked certificates: after a change every artifact is verified again. */
  revision: v.optional(v.number(), 0),
  patterns: v.optional(v.record(v.string(), v.string()), {}),
  revoked_count: v.optional(v.number(), 0),
  /** How often the bytes of artifacts were revoked: that says nothing about other artifacts. */
  revocations: v.optional(v.number(), 0),
});
export type TrustHead = v.InferOutput<typeof TrustHead>;

/** What hosts keep verdicts by: it rises with every change of trust, also where bytes alone were revoked. */
export const hostRevisionOf = ({ revision, revocations }: TrustHead): number => revision + revocations;

/** Two policies with one pattern would leave open which counts. */
export function requirePatternFree({ patterns }: TrustHead, name: string, pattern: string): void {
  const others = Object.entries(patterns).filter(([other]) => other !== name);
  const holder = others.find(([, taken]) => taken === pattern)?.[0];
  if (holder !== undefined)
    throw refuse('trust_policy.pattern_taken', { detail: `The policy ${holder} has this pattern.` });
  if (others.length >= TRUST_POLICIES_MAX)
    throw refuse('trust_policy.too_many', {
      detail: `At most ${TRUST_POLICIES_MAX} trust policies are allowed.`,
    });
}

/** What the schema cannot check: that certificates, names and keys are valid. Lists all faults. */
export function requireUsable({ roots, identities, provenance }: PutTrustPolicy, now: Date): void {
  const faults: InputFault[] = [
    ...roots.flatMap((pem, index) => faultAt(`/roots/${index}`, () => requireRoot(pem, now))),
    ...identities.flatMap((identity, index) =>
      parseName(identity) ? [] : [{ pointer: `/identities/${index}`, detail: NAME_EXPECTED }],
    ),
    ...provenance.builders.flatMap(({ public_keys }, builder) =>
      public_keys.flatMap((pem, index) =>
        faultAt(`/provenance/builders/${builder}/public_keys/${index}`, () => readBuilderKey(pem)),
      ),
    ),
    ...repeated(provenance.builders.map(({ builder_id }) => builder_id)).map((index) => ({
      pointer: `/provenance/builders/${index}/builder_id`,
      detail: 'Expected each builder only once.',
    })),
  ];
  if (provenance.required) {
    for (const list of ['builders', 'source_repositories'] as const) {
      if (provenance[list].length === 0)
        faults.push({
          pointer: `/provenance/${list}`,
          detail: 'Expected at least one builder, because provenance is required.',
        });
    }
  }
  if (faults.length > 0) throw refuse('request.invalid', { faults });
}

const NAME_EXPECTED =
  'Expected parts of a subject as RFC 4514 writes them: CN=release,O=Example,C=US. Types: CN, O, OU, C, ST, L, STREET, DC, UID, SERIALNUMBER, EMAILADDRESS.';

function faultAt(pointer: string, read: () => void): InputFault[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return [{ pointer, detail: `E${error.message.slice(1)}.` }];
  }
}

function requireRoot(pem: string, now: Date): void {
  const root = readRoot(pem);
  const { basicConstraints, keyUsage } = root;
  if (!basicConstraints?.isAuthority || !basicConstraints.isCritical)
    throw new Unreadable('expected the certificate of an authority, with critical basic constraints');
  if (!keyUsage?.isCritical || !keyUsage.has('keyCertSign'))
    throw new Unreadable('expected a key for signing certificates, by a critical key usage');
  if (!root.key.isStrong || !root.signedWith)
    throw new Unreadable('expected a strong key, and a signature with SHA-256, SHA-384 or SHA-512');
  if (!isIssuedBy(root, root))
    throw new Unreadable('expected a root certificate, which is signed with its own key');
  if (root.notAfter < now) throw new Unreadable('expected a certificate that has not expired');
}

function readRoot(pem: string): Certificate {
  const bytes = pemBytes(pem, 'CERTIFICATE');
  if (!bytes) throw new Unreadable('expected one certificate in PEM (RFC 7468)');
  return readCertificate(bytes);
}

export function readBuilderKey(pem: string): PublicKey {
  const bytes = pemBytes(pem, 'PUBLIC KEY');
  if (!bytes) throw new Unreadable('expected one public key in PEM (RFC 7468, BEGIN PUBLIC KEY)');
  const key = readPublicKey(readDer(bytes));
  if (!key.signing)
    throw new Unreadable('expected a key of P-256, P-384, P-521 or RSA of 2048, 3072 or 4096 bits');
  return key;
}

function repeated(names: string[]): number[] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []));
}

/** The policy as it shall be, in place of the one that is there. */
export function planTrustPolicy(
  before: TrustPolicy | undefined,
  name: string,
  wanted: PutTrustPolicy,
  by: string,
  now: Date,
): TrustPolicy {
  const at = now.toISOString();
  return {
    name,
    ...wanted,
    version: (before?.version ?? 0) + 1,
    created_at: before?.created_at ?? at,
    updated_at: at,
    updated_by: by,
  };
}

export const subjectOfTrustPolicy = (name: string): string => `trust_policy:${name}`;

/** As the audit tells it: certificates and keys by what they are known by. */
export function aboutTrustPolicy(policy: TrustPolicy | undefined) {
  if (!policy) return undefined;
  const { roots, provenance } = policy;
  return {
    ...policy,
    roots: roots.map((pem) => readRoot(pem).fingerprint),
    provenance: {
      ...provenance,
      builders: provenance.builders.map((builder) => ({
        ...builder,
        public_keys: builder.public_keys.map((pem) => readBuilderKey(pem).fingerprint),
      })),
    },
  };
}

const Told = v.object({ policy_name: Slug, repository_pattern: RepositoryPattern });

const tell = ({ name, ...policy }: TrustPolicy) => ({ policy_name: name, ...policy });

export const TrustPolicyChanged = event(
  'apps.trust.policy_changed',
  1,
  v.object({ ...Told.entries, version: v.number() }),
  tell,
);

export const TrustPolicyRemoved = event('apps.trust.policy_removed', 1, Told, tell);
