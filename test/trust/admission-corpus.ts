// Thousands of artifacts nobody should run, made by rule of some that everybody may; and those.

import type { Question } from '../../functions/trust/trust.ts';
import type { Descriptor } from '../../functions/trust/verification.ts';
import { KEY_TYPES } from '../../sdk/signing/algorithms.ts';
import { toPem } from '../../sdk/signing/certificates.ts';
import { chainMutations } from './admission-chains.ts';
import { envelopeMutations } from './admission-envelopes.ts';
import {
  ask,
  at,
  authorityKind,
  type Draft,
  draftEnvelope,
  ENVELOPE,
  EXPIRY,
  goodHeader,
  goodPayload,
  issueAuthority,
  issueSigner,
  type Kit,
  kitOf,
  makeKits,
  type Mutation,
  policyFor,
  SCHEME,
  SIGNED_AT,
} from './admission-kit.ts';
import {
  askBuilt,
  buildingPolicy,
  builderOf,
  draftStatement,
  goodStatement,
  provenanceMutations,
} from './admission-provenance.ts';

export function mutations(): Mutation[] {
  return [...envelopeMutations(), ...chainMutations(), ...provenanceMutations()];
}

/** Something that must be admitted. */
export interface Genuine {
  how: string;
  make: (descriptor: Descriptor) => Question;
}

export function genuineOnes(): Genuine[] {
  return KEY_TYPES.flatMap((keyType) => {
    const kit = kitOf(keyType);
    return [...plain(kit), ...lenient(kit), ...built(kit)].map(({ how, make }) => ({
      how: `${keyType}: ${how}`,
      make,
    }));
  });
}

const drafted = (
  kit: Kit,
  how: string,
  draft: Partial<Draft> = {},
  change: Parameters<typeof ask>[3] = {},
): Genuine => ({
  how,
  make: (descriptor) => ask(kit, descriptor, draftEnvelope(kit, descriptor, draft), change),
});

function plain(kit: Kit): Genuine[] {
  const header = (how: string, members: Record<string, unknown>): Genuine =>
    drafted(kit, how, { header: { ...goodHeader(kit), ...members } });
  const kind = authorityKind(kit.keyType);
  return [
    drafted(kit, 'as it should be'),
    header('with an expiry', { [EXPIRY]: '2026-11-16T12:00:01Z', crit: [SCHEME, EXPIRY] }),
    header('with an expiry, told first', { [EXPIRY]: '2099-01-01T00:00:00Z', crit: [EXPIRY, SCHEME] }),
    header('signed with a zone', { [SIGNED_AT]: '2026-11-15T14:00:00+02:00' }),
    header('signed within a second', { [SIGNED_AT]: '2026-11-15T12:00:00.123456789Z' }),
    header('signed by a clock ahead', { [SIGNED_AT]: '2026-11-16T12:04:59Z' }),
    header('signed as the certificates began', { [SIGNED_AT]: '2026-11-06T12:00:00Z' }),
    drafted(kit, 'with annotations', {}, {}),
    drafted(kit, 'without an agent', {
      finish: ({ header: unprotected, ...envelope }) => ({
        ...envelope,
        header: { x5c: (unprotected as { x5c: string[] }).x5c },
      }),
    }),
    drafted(kit, 'with a timestamp', {
      finish: ({ header: unprotected, ...envelope }) => ({
        ...envelope,
        header: { ...(unprotected as object), 'io.cncf.notary.timestampSignature': 'AAAA' },
      }),
    }),
    drafted(kit, 'written with blanks', { finish: (envelope) => JSON.stringify(envelope, undefined, 2) }),
    {
      how: 'with annotations in the payload',
      make: (descriptor) => {
        const { targetArtifact } = goodPayload(descriptor) as { targetArtifact: object };
        const payload = { targetArtifact: { ...targetArtifact, annotations: { 'io.example.build': '7' } } };
        return ask(kit, descriptor, draftEnvelope(kit, descriptor, { payload }));
      },
    },
    {
      how: 'by an authority of a root directly',
      make: (descriptor) => {
        const signer = issueSigner(kit.root, kit.keyType);
        const chain = [signer.certificate, kit.root.certificate].map((each) => each.toString('base64'));
        return ask(kit, descriptor, draftEnvelope(kit, descriptor, { chain }));
      },
    },
    {
      how: 'by two authorities',
      make: (descriptor) => {
        const first = issueAuthority(kit.root, kind, { pathLength: 1 });
        const second = issueAuthority(first, kind, { subject: 'CN=Second,O=Example' }, 'second');
        const signer = issueSigner(second, kit.keyType);
        const chain = [signer, second, first, kit.root].map(({ certificate }) =>
          certificate.toString('base64'),
        );
        return ask(kit, descriptor, draftEnvelope(kit, descriptor, { chain }));
      },
    },
    ...['*', 'gpuaas/apps/*', 'gpuaas/apps/example/*', 'gpuaas/apps/example/demo'].map((repository_pattern) =>
      drafted(
        kit,
        `under ${repository_pattern}`,
        {},
        { policy: policyFor(kit.root.certificate, { repository_pattern }) },
      ),
    ),
    ...[
      'C=US',
      'O=Example,CN=release',
      'cn=release, o=Example',
      'CN=release,OU=Build,O=Example,L=Berlin,C=US',
      String.raw`CN=\72elease`,
    ].map((identity) =>
      drafted(
        kit,
        `as ${identity}`,
        {},
        { policy: policyFor(kit.root.certificate, { identities: ['CN=nobody', identity] }) },
      ),
    ),
  ];
}

/** Right in spite of what lies beside it. */
function lenient(kit: Kit): Genuine[] {
  const others = makeKits().filter(({ keyType }) => keyType !== kit.keyType);
  return [
    {
      how: 'after signatures that do not count',
      make: (descriptor) => {
        const question = ask(kit, descriptor, draftEnvelope(kit, descriptor));
        const junk = [
          { mediaType: 'application/cose', bytes: Buffer.from('d2', 'hex') },
          { mediaType: ENVELOPE, bytes: Buffer.from('{}') },
          { mediaType: ENVELOPE, bytes: draftEnvelope(kit, { ...descriptor, size: descriptor.size + 1 }) },
        ];
        return {
          ...question,
          evidence: { provenances: [], signatures: [...junk, ...question.evidence.signatures] },
        };
      },
    },
    drafted(
      kit,
      'under one of several roots',
      {},
      {
        policy: policyFor(kit.root.certificate, {
          roots: [...others, kit].map(({ root }) => toPem(root.certificate)),
        }),
      },
    ),
    drafted(
      kit,
      'while others are revoked',
      {},
      { trust: { revision: 3, policies: [kit.policy], revoked: [{ fingerprint: '0'.repeat(64) }] } },
    ),
    drafted(
      kit,
      'under a policy more lenient than the one for all',
      {},
      {
        trust: {
          revision: 3,
          policies: [{ ...kit.policy, repository_pattern: '*', identities: ['CN=nobody'] }, kit.policy],
          revoked: [],
        },
      },
    ),
    drafted(kit, 'on the last day', {}, { now: at(300) }),
    {
      how: 'with provenance nobody asked for and that is wrong',
      make: (descriptor) => askBuilt(kit, descriptor, [Buffer.from('{}')], kit.policy),
    },
  ];
}

function built(kit: Kit): Genuine[] {
  const told = (how: string, externalParameters: Record<string, unknown>): Genuine => ({
    how,
    make: (descriptor) => {
      const good = goodStatement(descriptor);
      const buildDefinition = { ...good.predicate.buildDefinition, externalParameters };
      const statement = { ...good, predicate: { ...good.predicate, buildDefinition } };
      return askBuilt(kit, descriptor, [draftStatement(kit, statement)], buildingPolicy(kit));
    },
  });
  return [
    told('built as it should be', { source: { uri: 'git+https://code.example/team/demo' } }),
    told('built from a source told plainly', { source: 'git+https://code.example/team/demo@refs/tags/v1' }),
    told('built with all it may be told', {
      source: 'git+https://code.example/team/x',
      target: 1,
      platforms: ['a'],
    }),
    {
      how: 'built, after statements that do not count',
      make: (descriptor) => {
        const good = draftStatement(kit, goodStatement(descriptor));
        return askBuilt(kit, descriptor, [Buffer.from('x'), good], buildingPolicy(kit));
      },
    },
    {
      how: 'built by the second of two builders',
      make: (descriptor) => {
        const builders = [builderOf(kit, { builder_id: 'https://builders.example/other' }), builderOf(kit)];
        const good = draftStatement(kit, goodStatement(descriptor));
        return askBuilt(kit, descriptor, [good], buildingPolicy(kit, { builders }));
      },
    },
    {
      how: 'built with others at once',
      make: (descriptor) => {
        const good = goodStatement(descriptor);
        const subject = [{ digest: { sha256: '1'.repeat(64) } }, ...good.subject];
        return askBuilt(kit, descriptor, [draftStatement(kit, { ...good, subject })], buildingPolicy(kit));
      },
    },
  ];
}
